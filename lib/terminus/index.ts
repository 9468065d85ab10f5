export { LockHealthIndicator, type LockHealthOptions } from './lock.health-indicator.js';
