export type { LockInspection } from './lock-inspection.js';
export type { LockInspectorGuard, LockInspectorOptions } from './lock-inspector.options.js';
export { LockInspectorModule } from './lock-inspector.module.js';
export type { LostHold } from './lock-activity.js';
