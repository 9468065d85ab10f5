import type { LockKind } from '../locks/lock-kind.js';
import type { Stage } from './stage.js';

/** Something that happens to a holder, and to all kinds of locks in the same way. */
export interface ScriptedEvent {
  readonly title: string;
  /** What becomes of a lock that survives. */
  readonly survival: string;
  /** What becomes of a lock that does not. */
  readonly failure: string;
  /** Resolves to those that fail. */
  play(stage: Stage): Promise<LockKind[]>;
}
