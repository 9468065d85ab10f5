// A process in which some code imports the package and some requires it.
import * as imported from './imported.mjs';
import required from './required.cjs';

const ADDED_BY_NODE = ['default', 'module.exports'];

for (const [entryPoint, exports] of Object.entries(imported)) {
  const names = Object.keys(exports).filter((name) => !ADDED_BY_NODE.includes(name));
  const twice = names.filter((name) => exports[name] !== required[entryPoint][name]);
  if (names.length === 0) throw new Error(`${entryPoint} exports nothing`);
  if (twice.length > 0) throw new Error(`There are two copies of ${twice.join(', ')}`);
}
