// Entry points that need a package which is not installed: node lacking.mjs import|require specifier=package…
// Not both in one process, for Node 20 takes a second attempt for a cycle.
import { createRequire } from 'node:module';

const load = { import: (specifier) => import(specifier), require: createRequire(import.meta.url) };
const [way, ...expectations] = process.argv.slice(2);

for (const [specifier, lacking] of expectations.map((each) => each.split('='))) {
  const error = await Promise.resolve(specifier)
    .then(load[way])
    .catch((thrown) => thrown);
  const told =
    error instanceof Error && /MODULE_NOT_FOUND/.test(error.code) && error.message.includes(lacking);
  if (!told) throw new Error(`${specifier} does not tell that ${lacking} is not installed: ${error}`);
}
