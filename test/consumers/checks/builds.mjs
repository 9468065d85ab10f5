import { nest11Classic, nest11CommonJs, nest12Esm } from '../applications.mjs';
import { compilerOf } from './declarations.mjs';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';
const TSC = { name: 'nest build with tsc', args: [NEST, 'build'] };
const SWC = { name: 'nest build with swc', args: [NEST, 'build', '--builder', 'swc'] };

/**
 * @typedef {object} Build
 * @property {string} name
 * @property {readonly string[]} args of Node
 * @property {boolean} [bundle] whether it puts everything into one file, which then runs without node_modules
 */

/**
 * @param {import('../application.mjs').Application} application
 * @returns {readonly Build[]}
 */
export function buildsOf({ kind }) {
  switch (kind) {
    case nest11CommonJs: {
      const webpack = [NEST, 'build', '--webpack', '--webpackPath', 'webpack.config.cjs'];
      return [TSC, SWC, { name: 'nest build with webpack', args: webpack, bundle: true }];
    }
    case nest11Classic:
      return [TSC];
    case nest12Esm:
      // For ES modules nest build has no webpack.
      return [
        TSC,
        SWC,
        { name: 'esbuild', args: ['esbuild.mjs', `built/${TSC.name}/main.js`], bundle: true },
      ];
    default:
      return [{ name: 'tsc', args: [compilerOf('typescript'), '--project', 'tsconfig.build.json'] }];
  }
}

/**
 * One after the other, for some begin with the result of another.
 *
 * @param {import('../application.mjs').Application} application
 * @returns {import('./check.mjs').Check[]}
 */
export function buildChecks(application) {
  let before = Promise.resolve();
  return buildsOf(application).map(({ name, args }) => ({
    subject: application.kind.name,
    what: `is built by ${name}`,
    run: () => {
      const done = before.then(() => application.build(name, args));
      before = done.catch(() => {});
      return done;
    },
  }));
}
