import { createHash } from 'node:crypto';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { PAGE_TABLES } from './page-tables.js';

const SCRIPT = `${PAGE_TABLES}\n${PAGE_SCRIPT}`;

/** The whole page. It is equal for all clients, and requests its data. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Locks</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>Locks</h1>
<p>seen from <strong id="instance">…</strong></p>
<p id="state" role="status"></p>
<button type="button" id="pause" aria-pressed="false">Pause</button>
</header>
<main>
<p id="trouble" role="alert" hidden></p>
<dl id="tiles">
<div><dt>names held</dt><dd id="held">…</dd></div>
<div><dt>instances waiting</dt><dd id="waiting">…</dd></div>
<div><dt>held by this instance</dt><dd id="own">…</dd></div>
<div><dt>grants a second here</dt><dd id="rate">…</dd></div>
<div><dt>holds lost here</dt><dd id="lost-count">…</dd></div>
</dl>
<section aria-labelledby="names-title">
<div class="title">
<h2 id="names-title">Held now</h2>
<label>names that begin with <input id="prefix" type="search" autocomplete="off" spellcheck="false"></label>
</div>
<p id="part"></p>
<div class="scroll" tabindex="0" role="region" aria-label="Held names"><table id="names"></table></div>
</section>
<div class="columns">
<section aria-labelledby="hot-title"><h2 id="hot-title">Hottest names</h2><p class="note">most waiters now, and most grants here since this page was opened</p><div class="scroll" tabindex="0" role="region" aria-label="Hottest names, table"><table id="hot"></table></div></section>
<section aria-labelledby="holds-title"><h2 id="holds-title">Longest holds</h2><p class="note">of this instance, now</p><div class="scroll" tabindex="0" role="region" aria-label="Longest holds, table"><table id="holds"></table></div></section>
<section aria-labelledby="waits-title"><h2 id="waits-title">Longest waits</h2><p class="note">in this instance, since this page was opened</p><div class="scroll" tabindex="0" role="region" aria-label="Longest waits, table"><table id="waits"></table></div></section>
<section aria-labelledby="lost-title"><h2 id="lost-title">Lost holds</h2><p class="note">most recent, of this instance</p><div class="scroll" tabindex="0" role="region" aria-label="Lost holds, table"><table id="lost"></table></div></section>
<section aria-labelledby="instances-title"><h2 id="instances-title">By instance</h2><p class="note">names held by each instance, of the names above</p><div class="scroll" tabindex="0" role="region" aria-label="By instance, table"><table id="instances"></table></div></section>
</div>
</main>
<dialog id="detail" aria-labelledby="detail-title">
<div class="title"><h2 id="detail-title"></h2><button type="button" id="close">Close</button></div>
<p id="detail-state" role="status"></p>
<div class="scroll" tabindex="0" role="region" aria-label="Holders"><table id="holders"></table></div>
<div class="scroll" tabindex="0" role="region" aria-label="Waiting"><table id="waiters"></table></div>
<div id="release" hidden>
<p>Its work may still be running: its signal aborts, and the next waiter acquires the lock. Only the fencing token prevents writes of the old holder.</p>
<label><input type="checkbox" id="sure"> The resource checks fencing tokens, or the holder has ended.</label>
<button type="button" id="force" disabled>Release forcibly</button>
</div>
</dialog>
<noscript><p>This page needs JavaScript.</p></noscript>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** Allows the page to run its inline code and to send requests to its own origin, and nothing else. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `script-src '${hashOf(SCRIPT)}'`,
  `style-src '${hashOf(PAGE_STYLE)}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hashOf(code: string): string {
  return `sha256-${createHash('sha256').update(code).digest('base64')}`;
}
