import { AsyncLocalStorage } from 'node:async_hooks';
import { NEVER } from 'rxjs';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { whileHeld } from '../../../lib/nest/locked/while-held.js';

describe('whileHeld', () => {
  it('reports the loss in the async context of the subscriber', () => {
    const callers = new AsyncLocalStorage<string>();
    const loss = new AbortController();
    const lock = { signal: loss.signal } as Lock;
    const seen: unknown[] = [];
    callers.run('subscriber', () =>
      whileHeld(lock, (subscribe) => subscribe(), NEVER).subscribe({
        error: (error) => seen.push(error, callers.getStore()),
      }),
    );
    callers.run('stranger', () => loss.abort('lost'));

    expect(seen).toEqual(['lost', 'subscriber']);
  });
});
