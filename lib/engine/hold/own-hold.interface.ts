/** One hold of this process in `locks.holds()`. */
export interface OwnHold {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /** Who or what holds it: the option `label`, or `Class.method` of the `@Locked` method. */
  readonly label: string | undefined;
  /** `Class.method` for a hold of a `@Locked` method. */
  readonly method: string | undefined;
  /** The method's key template as written, several templates separated by commas; undefined for a key function. */
  readonly template: string | undefined;
  /** Time of the grant, by the local clock. */
  readonly since: Date;
  /** Milliseconds since the grant. */
  readonly held: number;
  /** Milliseconds for which the hold is certain without another renewal. */
  readonly remaining: number;
  /** Number of callers of this process that wait for the name. */
  readonly waiting: number;
  readonly fencingToken: number;
}
