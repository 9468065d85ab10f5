// Runs before the npm scripts, without any package: node prepare.mjs [--redis | --redis-unless-url] [--browser] [--promtool]
// [--build]
//
// --redis             also makes sure that redis-server can be started
// --redis-unless-url  the same, unless REDIS_URL names a server that runs already
// --browser           gets a Chromium, where that needs no question
// --promtool          gets the checker of Prometheus' rules, where that needs no question
// --build             builds dist, unless that is what the sources make of it already
import { fileURLToPath } from 'node:url';
import { provideBrowserProgram } from './browser-program.mjs';
import { provideBuild } from './build.mjs';
import { provideInstallation } from './installation.mjs';
import { providePromtool } from './promtool.mjs';
import { provideRedisProgram } from './redis-program.mjs';
import { thisSystem } from './system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const system = thisSystem(root);
const needsRedis =
  process.argv.includes('--redis') ||
  (process.argv.includes('--redis-unless-url') && !process.env['REDIS_URL']);

try {
  provideInstallation(root, system);
  if (needsRedis) provideRedisProgram(root, system);
  if (process.argv.includes('--browser')) provideBrowserProgram(system);
  if (process.argv.includes('--promtool')) providePromtool(system);
  if (process.argv.includes('--build')) provideBuild(root, system);
} catch (error) {
  system.say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
