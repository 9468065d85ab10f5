// Runs before the benchmark: the packages of test/bench/package-lock.json, and a build of what is measured.
import { fileURLToPath } from 'node:url';
import { provideBuild } from '../../tools/setup/build.mjs';
import { provideInstallation } from '../../tools/setup/installation.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const system = thisSystem(root);

try {
  provideInstallation(fileURLToPath(new URL('.', import.meta.url)), system);
  provideBuild(root, system);
} catch (error) {
  system.say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
