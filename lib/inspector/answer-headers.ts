import type { ServerResponse } from 'node:http';
import type { HttpAdapterHost } from '@nestjs/core';
import { CONTENT_SECURITY_POLICY } from './page/inspector-page.js';

/** A response of Express, or a reply of Fastify around a response. */
export type PlatformResponse = ServerResponse | { readonly raw: ServerResponse };

/** Headers that forbid caches, other sites and frames. */
const HEADERS = {
  'Cache-Control': 'private, no-store, no-transform',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export function setHeaders({ httpAdapter }: HttpAdapterHost, response: PlatformResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) httpAdapter.setHeader(response, name, value);
}

/**
 * Calls back when the client has disconnected or received its reply; not every version of NestJS notifies a stream of
 * it.
 */
export function onceClosed(response: PlatformResponse, listener: () => void): void {
  const raw = 'raw' in response ? response.raw : response;
  if (raw.destroyed) listener();
  else raw.once('close', listener);
}
