// A process in which some code imports the package and some requires it.
import { createRequire } from 'node:module';
import * as imported from 'nest-redis-lock';
import * as importedTesting from 'nest-redis-lock/testing';

const require = createRequire(import.meta.url);
const pairs = [
  [imported, require('nest-redis-lock')],
  [importedTesting, require('nest-redis-lock/testing')],
];
for (const [a, b] of pairs) {
  const names = Object.keys(a).filter((name) => name !== 'default' && name !== 'module.exports');
  const twice = names.filter((name) => a[name] !== b[name]);
  if (names.length === 0 || twice.length > 0) throw new Error(`There are two copies of ${twice.join(', ')}`);
}
