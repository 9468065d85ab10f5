import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, tableOf } from './documents.js';

it('The page on versions lists the applications that are tried', () => {
  const source = readFileSync(join(root, 'test/consumers/applications.mjs'), 'utf8');
  const tried = [...source.matchAll(/^ {2}name: '([^']+)'/gm)].map(([, name]) => name);
  expect(tried.length).toBeGreaterThan(5);
  expect(tableOf('application under test').map((row) => row['application under test'])).toEqual(tried);
});

it('The page on versions lists the servers that are tried', () => {
  const source = readFileSync(join(root, 'test/servers/servers.mjs'), 'utf8');
  const tried = [...source.matchAll(/\{ id: '([^']+)', package/g)].map(([, id]) => `\`${id}\``);
  expect(tried.length).toBeGreaterThan(3);
  expect(tableOf('tested server').map((row) => Object.values(row)[1])).toEqual(tried);
});
