// The part of the build that is there once for NestJS as CommonJS and as ES modules.
//
// Jest before Node 24.9 can import ES modules, but not require them. Code that uses NestJS is therefore a function of
// the packages that it uses. The entry point requires them (`.js`) or imports them (`.mjs`), as the application does.

/** @typedef {import('rollup').RenderedChunk} Chunk */

/**
 * The code of a file as a function, which returns the same for the same NestJS.
 *
 * @param {string} code CommonJS
 */
export function functionOfPeers(code) {
  const body = code.replaceAll(/require\('([^']+)'\)/g, (read, /** @type {string} */ name) => {
    if (name.startsWith('../') || name.startsWith('node:')) return read;
    return name.startsWith('./') ? `${read}(peers)` : `peers['${name}']`;
  });
  return `'use strict';
const made = new WeakMap();
module.exports = (peers) => {
  const { Module } = peers['@nestjs/common'];
  if (!made.has(Module)) made.set(Module, make(peers, {}));
  return made.get(Module);
};
function make(peers, exports) {
${body}
return exports;
}`;
}

/**
 * The entry points, of both kinds, for a file with such a function.
 *
 * @param {Chunk} chunk
 * @param {Record<string, Chunk>} chunks
 */
export function entryPointsOf(chunk, chunks) {
  const { exports, fileName, name } = chunk;
  const taken = [['@nestjs/common', 'Module'], ...importsOf(chunk, chunks)];
  const peers = [...new Set(taken.map(([peer]) => peer))];
  const namesOf = (/** @type {string | undefined} */ peer) =>
    [...new Set(taken.filter(([each]) => each === peer).map(([, each]) => each))].join(', ');
  const required = peers.map((peer) => `  '${peer}': require('${peer}'),\n`).join('');
  // Names, not all of a package, so that other bundlers can leave out the rest of it.
  const imported = peers.map((peer) => `import { ${namesOf(peer)} } from '${peer}';\n`).join('');
  const given = peers.map((peer) => `  '${peer}': { ${namesOf(peer)} },\n`).join('');
  return [
    {
      fileName: `${name}.js`,
      source: `'use strict';\nmodule.exports = require('./${fileName}')({\n${required}});\n`,
    },
    {
      fileName: `${name}.mjs`,
      source: `${imported}import make from './${fileName}';\nexport const { ${exports.join(', ')} } = make({\n${given}});\n`,
    },
  ];
}

/**
 * The packages that the function takes, each with a name that it uses.
 *
 * @param {Chunk} chunk
 * @param {Record<string, Chunk>} chunks
 * @returns {string[][]}
 */
function importsOf({ importedBindings }, chunks) {
  return Object.entries(importedBindings).flatMap(([from, names]) => {
    const file = chunks[from];
    if (file) return from.startsWith('nest/') ? importsOf(file, chunks) : [];
    return from.startsWith('node:') ? [] : names.map((name) => [from, name]);
  });
}
