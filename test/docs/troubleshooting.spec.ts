import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, tableOf } from './documents.js';

/** What Redis says by itself. */
const OF_REDIS = ['OOM', 'NOPERM', 'CROSSSLOT', 'MOVED', 'READONLY'];

/** The sources of the module, with each message on one line and `…` for its variable parts. */
const sources = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(root, 'lib', path), 'utf8'))
  .join('\n')
  .replaceAll(/['"`]\s*\+\s*['"`]/g, '')
  .replaceAll(/\$\{[^{}]*\}/g, '…');

const texts = tableOf('text').flatMap(({ text = '' }) =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => quoted),
);

it.each(texts)('Troubleshooting quotes a message of the module or of Redis: %s', (text) => {
  const own = text
    .split(/…|[()]/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !OF_REDIS.includes(part));
  expect(own.filter((part) => !sources.includes(part))).toEqual([]);
});

it('Troubleshooting quotes twenty messages or more', () => {
  expect(texts.length).toBeGreaterThanOrEqual(20);
});
