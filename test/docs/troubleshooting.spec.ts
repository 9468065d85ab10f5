import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lib from '../../lib/index.js';
import { documentOf, root } from './documents.js';

/** What Redis says by itself. */
const OF_REDIS = ['OOM', 'NOPERM', 'CROSSSLOT', 'MOVED', 'READONLY', 'ERR unknown command'];

/** The sources of the module by file, with each message on one line and `…` for its variable parts. */
const files = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: messagesOnOneLine(readFileSync(join(root, 'lib', path), 'utf8')) }));
const sources = files.map(({ text }) => text).join('\n');

const headings = documentOf('docs/troubleshooting.md').lines.filter((line) => line.startsWith('### '));
/** The texts that headings quote: each has the parts between its `…`. */
const quotes = headings.flatMap((heading) =>
  [...heading.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => ({ quoted, parts: partsOf(quoted) })),
);

it.each(quotes)('Troubleshooting quotes the module or Redis: $quoted', ({ parts }) => {
  expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
});

it.each(Object.keys(lib).filter((name) => /^Lock\w+Error$/.test(name)))('%s has a heading', (name) => {
  const text = documentOf('docs/troubleshooting.md').lines.join('\n');
  expect(headings.some((heading) => heading.includes(name)) || text.includes(`texts of \`${name}\``)).toBe(
    true,
  );
});

const logged = files.flatMap(({ path, text }) =>
  [
    ...text.matchAll(/\b(?:log|Logger)\.(?:warn|error)\(\s*[`'"](.+?)[`'"],?\s*(?:\)|LOG_CONTEXT)/g),
    ...(path.includes('startup')
      ? text.matchAll(/(?:\byield|\bwarn\(|Error\()[\s(]*`(.+?)[`'][\s,]*\)?;/g)
      : []),
  ].map(([, message = '']) => message),
);

it.each(logged.filter((message) => partsOf(message).length > 0))(
  'The log line has a heading: %s',
  (message) => {
    const found = quotes.filter(
      ({ parts }) => parts.length > 0 && parts.every((part) => message.includes(part)),
    );
    expect(found).not.toEqual([]);
  },
);

it('The log has twenty lines or more', () => {
  expect(logged.length).toBeGreaterThanOrEqual(20);
});

function messagesOnOneLine(source: string): string {
  return source.replaceAll(/['"`]\s*\+\s*['"`]/g, '').replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '…');
}

/** The fixed parts of a message; of one word of Redis, none. */
function partsOf(message: string): string[] {
  return message
    .split(/…|[()]/)
    .map((part) => part.trim())
    .filter((part) => /\w/.test(part) && !OF_REDIS.includes(part));
}
