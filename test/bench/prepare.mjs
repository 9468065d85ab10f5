// Runs before the benchmark: the packages of test/bench/package-lock.json, and a build of what is measured.
import { fileURLToPath } from 'node:url';
import { provideInstallation } from '../../tools/setup/installation.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const system = thisSystem(root);

try {
  provideInstallation(fileURLToPath(new URL('.', import.meta.url)), system);
  const isBuilt = system.run(process.execPath, ['tools/build.mjs'], { cwd: root });
  if (!isBuilt) throw new Error('The build failed; its output above says why');
} catch (error) {
  system.say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
