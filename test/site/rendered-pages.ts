import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Pages as HTML, by their paths within docs, the READMEs by their names, and an index of the search for each language. */
interface RenderedPages {
  readonly html: Readonly<Record<string, string>>;
  readonly indexes: Readonly<Record<string, unknown>>;
}

/** Renders the pages in a process of its own, because VitePress is an ES module. Takes seconds, and needs no built site. */
export function renderedPages(): RenderedPages {
  const program = join(__dirname, 'render-pages.mjs');
  const output = execFileSync(process.execPath, [program], { encoding: 'utf8', maxBuffer: 100_000_000 });
  return JSON.parse(output) as RenderedPages;
}
