import type { LockPicture } from '../page/picture.interface.js';

/** Something that one of the processes does. */
export interface StageEvent {
  readonly who: string;
  readonly what: string;
  /** Fencing token of the hold. */
  readonly token?: number | undefined;
  readonly verdict?: 'good' | 'bad';
}

/** What a page of the tour shows at one moment. */
export interface StagePicture {
  /** The instance that serves this page. */
  readonly servedBy: string;
  readonly running: boolean;
  /** Of the last run, with the milliseconds since its start. */
  readonly events: readonly (StageEvent & { readonly at: number })[];
  /** Null while Redis does not answer. */
  readonly lock: LockPicture | null;
  /** Milliseconds that a lease lasts without renewal. */
  readonly lease: number;
}

export type FencingGuard = 'locked' | 'fenced';

export interface FencingResult {
  readonly balance: number;
  readonly lost: number;
}

/** Two writers of one account: the first is frozen until the second has written. */
export interface FencingPicture extends StagePicture {
  /** Of the latest run. */
  readonly guard: FencingGuard;
  /** As the database has it: the token of the last writer that sent one. */
  readonly account: { readonly balance: number; readonly token: number } | null;
  /** How the last run of each kind ended: what the account has, and what of writer 2 is lost. */
  readonly results: Readonly<Partial<Record<FencingGuard, FencingResult>>>;
}

export interface ReportPage {
  readonly page: number;
  /** The worker that wrote it. */
  readonly worker: string;
}

/** Three workers that want to write one report. */
export interface TakeoverPicture extends StagePicture {
  readonly workers: readonly { readonly name: string; readonly killed: boolean }[];
  readonly pages: readonly ReportPage[];
  /** Pages of the whole report. */
  readonly length: number;
}
