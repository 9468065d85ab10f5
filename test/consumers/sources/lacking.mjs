// Entry points that need a package which is not installed, as arguments: node lacking.mjs specifier=package…
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

for (const [specifier, lacking] of process.argv.slice(2).map((each) => each.split('='))) {
  for (const load of [() => import(specifier), () => require(specifier)]) {
    const error = await Promise.resolve()
      .then(load)
      .catch((thrown) => thrown);
    const told =
      error instanceof Error && /MODULE_NOT_FOUND/.test(error.code) && error.message.includes(lacking);
    if (!told) throw new Error(`${specifier} does not tell that ${lacking} is not installed: ${error}`);
  }
}
