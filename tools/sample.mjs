// Runs a program of sample/ against the package's build: node tools/sample.mjs [flags] <file below sample> [arguments]
//
// Flags go to setup/prepare.mjs, which provides a Redis unless REDIS_URL names one.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const args = process.argv.slice(2);
const flags = args.splice(
  0,
  args.findIndex((argument) => !argument.startsWith('--')),
);
const [file = '', ...rest] = args;

/** @param {string[]} command */
function succeeds(...command) {
  // What is said on the way goes to stderr, so that stdout is the program's own.
  const { status } = spawnSync(process.execPath, command, { stdio: ['ignore', 2, 2] });
  return status === 0;
}

if (succeeds(here('setup/prepare.mjs'), '--redis-unless-url', '--build-code', ...flags)) {
  const hook = here('typescript.hook.cjs');
  const program = spawn(process.execPath, ['--require', hook, here(`../sample/${file}`), ...rest], {
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to both; the program ends in its own order.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => program.kill('SIGTERM'));
  program.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
} else {
  process.exitCode = 1;
}
