// Runs before the npm scripts, without any package: node prepare.mjs [flags]
//
// --packages=a,b      installs the packages of these folders of tools/packages; without it, all packages
// --redis             makes sure that redis-server can be started
// --redis-unless-url  the same, unless REDIS_URL names a running server
// --browser           installs Chromium if that needs no answer from a person
// --promtool          likewise the checker of Prometheus' rules
// --build             builds dist, unless it is up to date
// --build-code        builds only the code of dist, without declarations, unless it is up to date
// --package           builds the code, packs it, and installs the tarball outside of the repository
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { provideBrowserProgram } from './browser-program.mjs';
import { provideBuild } from './build.mjs';
import { provideInstallation } from './installation.mjs';
import { providePackage } from './package.mjs';
import { providePromtool } from './promtool.mjs';
import { provideRedisProgram } from './redis-program.mjs';
import { thisSystem } from './system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const system = thisSystem(root);
const flag = /** @type {const} */ ({ type: 'boolean', default: false });
const { values } = parseArgs({
  options: {
    packages: { type: 'string' },
    redis: flag,
    'redis-unless-url': flag,
    browser: flag,
    promtool: flag,
    build: flag,
    'build-code': flag,
    package: flag,
  },
});

try {
  provideInstallation(root, system, values.packages?.split(','));
  if (values.redis || (values['redis-unless-url'] && !process.env['REDIS_URL']))
    provideRedisProgram(root, system);
  if (values.browser) provideBrowserProgram(system);
  if (values.promtool) providePromtool(system);
  if (values.build) provideBuild(root, system);
  else if (values['build-code']) provideBuild(root, system, { codeOnly: true });
  if (values.package) providePackage(root, system, { codeOnly: true });
} catch (error) {
  system.say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
