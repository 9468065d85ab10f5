/** What all locks here have in common. */
export interface ContestedLock {
  /** One attempt: false when somebody else has it. */
  tryAcquire(): Promise<boolean>;
  release(): Promise<void>;
}
