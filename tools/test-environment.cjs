// Jest's environment for Node, which ends the async storages of a spec with it.
//
// Before Node 24 each AsyncLocalStorage that ran something stays switched on, and every promise of the process asks all
// of them. A worker of Jest loads each module anew for each spec: after a hundred specs a promise cost 200 times as much.
'use strict';
const { AsyncLocalStorage } = require('node:async_hooks');
const { TestEnvironment } = require('jest-environment-node');

const { prototype } = AsyncLocalStorage;

module.exports = class extends TestEnvironment {
  /** @type {Set<AsyncLocalStorage<unknown>>} */
  used = new Set();
  original = { run: prototype.run, enterWith: prototype.enterWith };

  /** @override */
  async setup() {
    await super.setup();
    const { used, original } = this;
    prototype.run = function (/** @type {[unknown, () => unknown]} */ ...args) {
      used.add(this);
      return original.run.apply(this, args);
    };
    prototype.enterWith = function (store) {
      used.add(this);
      original.enterWith.call(this, store);
    };
  }

  /** @override */
  async teardown() {
    Object.assign(prototype, this.original);
    for (const storage of this.used) storage.disable();
    this.used.clear();
    await super.teardown();
  }
};
