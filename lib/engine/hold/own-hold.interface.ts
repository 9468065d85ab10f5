/** One hold of this process as `locks.holds()` tells it. */
export interface OwnHold {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /** Who or what holds it: the option `label`, or `Class.method` of the `@Locked` method. */
  readonly label: string | undefined;
  /** `Class.method` where a `@Locked` method holds it. */
  readonly method: string | undefined;
  /** Its key template as written, several of them separated by commas; undefined for a key function. */
  readonly template: string | undefined;
  /** When it was granted, by the local clock. */
  readonly since: Date;
  /** Milliseconds since then. */
  readonly held: number;
  /** Milliseconds for which it is certain without another renewal. */
  readonly remaining: number;
  /** Callers of this process that wait for the name. */
  readonly waiting: number;
  readonly fencingToken: number;
}
