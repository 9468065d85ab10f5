import { AsyncLocalStorage } from 'node:async_hooks';
import { NEVER, take } from 'rxjs';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { EndlessStream } from './endless-stream.js';
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

  it('stops an endless stream that emits at once when its subscriber leaves', () => {
    const { signal } = new AbortController();
    const endless = new EndlessStream();
    const seen: number[] = [];
    whileHeld({ signal } as Lock, (subscribe) => subscribe(), endless.values)
      .pipe(take(2))
      .subscribe((value) => seen.push(value));

    expect(seen).toEqual([1, 2]);
    expect(endless.emitted).toBeLessThan(5);
  });
});
