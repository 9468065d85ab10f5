import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { neighbours } from '../neighbours/neighbours.mjs';
import { rowsOf } from '../neighbours/table.mjs';
import { root, tableOf } from './documents.js';

it('The page on places lists the neighbours of npm run test:neighbours with their versions', () => {
  // `npm run test:neighbours -- --write` writes the table.
  const lockFile = JSON.parse(readFileSync(join(root, 'test/neighbours/package-lock.json'), 'utf8'));
  expect(tableOf('neighbour')).toEqual(rowsOf(neighbours, lockFile));
});
