// Jest's environment for Node, which ends the async storages of a spec with it, and compiles each module once a worker.
//
// Before Node 24 each AsyncLocalStorage that ran something stays switched on, and every promise of the process asks all
// of them. A worker of Jest loads each module anew for each spec: after a hundred specs a promise cost 200 times as much.
// The modules themselves were a sixth of the work of all specs, for V8 reads the text of each again to know its functions.
'use strict';
const { AsyncLocalStorage } = require('node:async_hooks');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { prototype } = AsyncLocalStorage;

/**
 * What V8 made of the text of a module, for the specs that come later.
 *
 * @type {Map<string, Buffer>}
 */
const compiled = new Map();

module.exports = class extends TestEnvironment {
  /** @type {Set<AsyncLocalStorage<unknown>>} */
  used = new Set();
  original = { run: prototype.run, enterWith: prototype.enterWith };
  compileFunction = vm.compileFunction;

  /** @override */
  async setup() {
    await super.setup();
    const { used, original, compileFunction } = this;
    prototype.run = function (/** @type {[unknown, () => unknown]} */ ...args) {
      used.add(this);
      return original.run.apply(this, args);
    };
    prototype.enterWith = function (store) {
      used.add(this);
      original.enterWith.call(this, store);
    };
    vm.compileFunction = (code, parameters, options) => {
      const key = `${parameters?.join()}\n${code}`;
      const cachedData = compiled.get(key);
      if (cachedData) return compileFunction(code, parameters, { ...options, cachedData });
      const result = compileFunction(code, parameters, { ...options, produceCachedData: true });
      if (result.cachedData) compiled.set(key, result.cachedData);
      return result;
    };
  }

  /** @override */
  async teardown() {
    Object.assign(prototype, this.original);
    vm.compileFunction = this.compileFunction;
    for (const storage of this.used) storage.disable();
    this.used.clear();
    await super.teardown();
  }
};
