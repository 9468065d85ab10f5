// Builds dist: CommonJS and ES modules from the same source, each with declarations and source maps.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** @param {string[]} options */
function compile(...options) {
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', ...options], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
try {
  compile();
  compile('--module', 'es2022', '--moduleResolution', 'bundler', '--outDir', 'dist/esm');
  // The package has no "type", so that dist/cjs is CommonJS; this makes dist/esm ES modules.
  writeFileSync(join(root, 'dist/esm/package.json'), `${JSON.stringify({ type: 'module' })}\n`);
} catch {
  // The compiler has printed what is wrong.
  process.exitCode = 1;
}
