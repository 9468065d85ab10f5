import * as Sentry from '@sentry/nestjs';
import { createTransport } from '@sentry/core';

/** The items that Sentry would send: their type, and what they describe. */
export const sent: { readonly type: string; readonly payload: unknown }[] = [];

Sentry.init({
  dsn: 'http://key@127.0.0.1/1',
  tracesSampleRate: 1,
  // Keeps what it gets: a test sends nothing over the network.
  transport: (options) =>
    createTransport({ ...options, recordDroppedEvent: () => {} }, async () => ({ statusCode: 200 })),
  beforeSend: (event) => {
    sent.push({ type: 'event', payload: event.exception });
    return event;
  },
  beforeSendTransaction: (event) => {
    sent.push({ type: 'transaction', payload: event.spans });
    return event;
  },
});
