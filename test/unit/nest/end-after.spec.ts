import { setTimeout as delay } from 'node:timers/promises';
import { concat, finalize, from, NEVER, Observable, of, Subject, Subscriber, take, throwError } from 'rxjs';
import { EndlessStream } from './endless-stream.js';
import { unreadable } from '../../support/unreadable.js';
import { endAfter } from '../../../lib/nest/locked/end-after.js';

describe('endAfter', () => {
  /** What a subscriber and the end of the stream saw, in order. */
  function journalOf(stream: Observable<unknown>, close?: () => Promise<void> | void) {
    const lines: unknown[] = [];
    const ended = endAfter(stream, {
      close: async (how) => {
        lines.push(how);
        await delay(5);
        await close?.();
        lines.push('closed');
      },
      translate: (error) => `${String(error)}, translated`,
    });
    const done = new Promise<void>((resolve) => {
      ended.subscribe({
        next: (value) => lines.push(value),
        error: (error: unknown) => resolve(void lines.push(error)),
        complete: () => resolve(void lines.push('complete')),
      });
    });
    return { lines, done };
  }

  it('passes the last value and the completion once the end is closed', async () => {
    const { lines, done } = journalOf(from([1, 2, 3]));
    await done;
    expect(lines).toEqual([1, 2, 'completed', 'closed', 3, 'complete']);
  });

  it('passes a value of a stream that continues at once', async () => {
    const values = new Subject<number>();
    const { lines, done } = journalOf(values);
    values.next(1);
    await Promise.resolve();
    expect(lines).toEqual([1]);
    values.complete();
    await done;
    expect(lines).toEqual([1, 'completed', 'closed', 'complete']);
  });

  it('stops an endless stream that emits at once when its subscriber leaves', () => {
    const endless = new EndlessStream();
    const lines: unknown[] = [];
    endAfter(endless.values, { close: (how) => void lines.push(how) })
      .pipe(take(2))
      .subscribe((value) => lines.push(value));

    expect(lines).toEqual([1, 2, 'left']);
    expect(endless.emitted).toBeLessThan(6);
  });

  it('passes an error once the end is closed', async () => {
    const { lines, done } = journalOf(throwError(() => 'failure'));
    await done;
    expect(lines).toEqual(['failed', 'closed', 'failure, translated']);
  });

  it('passes values and the error although its callbacks throw', () => {
    const lines: unknown[] = [];
    endAfter(
      concat(
        of(1),
        throwError(() => 'failure'),
      ),
      {
        seen: unreadable,
        translate: unreadable,
        close: (how) => void lines.push(how),
      },
    ).subscribe({ next: (value) => lines.push(value), error: (error: unknown) => lines.push(error) });

    expect(lines).toEqual(['failed', 1, 'failure']);
  });

  it('fails instead of completing if the close fails', async () => {
    const { lines, done } = journalOf(of(1), () => Promise.reject(new Error('lost')));
    await done;
    expect(lines).toEqual(['completed', 'Error: lost, translated']);
  });

  it.each([
    ['before the end', NEVER, ['left']],
    ['while the end is closed', of(1), ['completed']],
  ])('closes once for a subscriber that leaves %s', (_when, stream, closed) => {
    const calls: string[] = [];
    const ended = endAfter<unknown>(stream, {
      close: async (how) => void calls.push(how),
    });
    ended.subscribe({ next: () => calls.push('value') }).unsubscribe();
    expect(calls).toEqual(closed);
  });

  it('closes after the finalizers of a stream whose subscriber leaves', () => {
    const calls: string[] = [];
    const stream = NEVER.pipe(finalize(() => calls.push('finalized')));
    endAfter(stream, { close: async (how) => void calls.push(how) })
      .subscribe()
      .unsubscribe();
    expect(calls).toEqual(['finalized', 'left']);
  });

  it('closes without a subscription if the subscriber has already left', () => {
    const calls: string[] = [];
    const stream = new Observable(() => void calls.push('subscribed'));
    const gone = new Subscriber<unknown>();
    gone.unsubscribe();
    endAfter(stream, { close: async (how) => void calls.push(how) }).subscribe(gone);
    expect(calls).toEqual(['left']);
  });
});
