import type { Grant } from '../../lib/store/grant.js';
import type { AcquireRequest, Extension, YieldRequest } from '../../lib/store/lock-store.js';

/** What an instance sends to the server about one of its names, which is a number here. */
export type Request = { readonly of: number } & (
  | { readonly kind: 'acquire'; readonly request: AcquireRequest }
  | { readonly kind: 'yield'; readonly request: YieldRequest }
  | { readonly kind: 'extend'; readonly request: Extension; readonly sentAt: number }
  | CleanUp
);

/** A request that is repeated until it is confirmed or `until` has passed. */
export type CleanUp = {
  readonly of: number;
  readonly ttl: number;
  /** Infinity before its first failure. */
  readonly until: number;
  /** Whether the machine waits for its first reply. */
  readonly returns: boolean;
} & (
  | { readonly kind: 'release'; readonly owner: string; readonly isVacating?: true }
  | { readonly kind: 'cancel'; readonly place: string | undefined }
);

/** The reply to a request, or the error that came instead. */
export interface Reply {
  readonly to: Request;
  readonly error?: Error;
  readonly result?: unknown;
}

export type Message = { readonly of: number } & (
  | { readonly kind: 'granted'; readonly grant: Grant; readonly claimTtl: number }
  | { readonly kind: 'revoked'; readonly owner: string }
  | { readonly kind: 'asked'; readonly place: string }
);
