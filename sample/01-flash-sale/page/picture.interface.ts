import type { SaleMode } from '../demo/sale-mode.js';

/** What the page shows at one moment. */
export interface Picture {
  /** The instance that serves this page. */
  readonly servedBy: string;
  /** The rush that the button sends. */
  readonly next: { readonly stock: number; readonly buyers: number };
  readonly running: SaleMode | null;
  /** The last sale of each kind. */
  readonly sales: Readonly<Partial<Record<SaleMode, SalePicture>>>;
  readonly instances: readonly { readonly name: string; readonly url: string }[];
  /** Null while Redis does not answer. */
  readonly lock: LockPicture | null;
}

/** A sale as the database has it. */
export interface SalePicture {
  readonly stock: number;
  readonly buyers: number;
  readonly sold: number;
  /** Buyers who were told that nothing is left; known at the end. */
  readonly soldOut: number;
  /** Buyers who got an error, or no answer; known at the end. */
  readonly failed: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Pieces sold by each instance, by its name. */
  readonly byInstance: Readonly<Record<string, number>>;
  /** Milliseconds since the start, and the pieces left then: below zero when more was sold than there was. */
  readonly timeline: readonly (readonly [elapsed: number, left: number])[];
}

/** Who has a lock, by the names of processes. */
export interface LockPicture {
  readonly name: string;
  readonly holder: string | null;
  /** In the order in which they will get it. */
  readonly waiting: readonly string[];
  /** Milliseconds until the holder's lease ends, unless it is renewed. */
  readonly remaining?: number | undefined;
  readonly token?: number | undefined;
}
