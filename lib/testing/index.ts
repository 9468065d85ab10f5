export { LockTestingModule, type LockTestingOptions } from './lock-testing.module.js';
export { MemoryLockServer } from '../store/memory/memory-lock-server.js';
