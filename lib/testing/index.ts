export { LockTestingModule, type LockTestingOptions, type OverridingBuilder } from './lock-testing.module.js';
export { MemoryLockServer } from '../store/memory/memory-lock-server.js';
