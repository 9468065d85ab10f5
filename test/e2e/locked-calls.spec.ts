import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { catchError, concatMap, from, lastValueFrom, of, Subject, toArray, Observable } from 'rxjs';
import type { Observable as ObservableType } from 'rxjs';
import {
  CurrentLock,
  Locked,
  LockKeyError,
  LockLostError,
  LockService,
  LockTimeoutError,
  RedisLockModule,
  type Lock,
} from '../../lib/index.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { lazily } from '../support/lazily.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';
import { startModule } from './support/start-module.js';

/** Milliseconds of a lease whose end a test waits for. */
const SHORT = 400;

@Injectable()
class Work {
  runs = 0;
  readonly source = new Subject<number>();

  constructor(private readonly locks: LockService) {}

  @Locked('work:<0>')
  async call<T>(
    _name: string,
    work: (lock: Lock | undefined) => T | Promise<T>,
    @CurrentLock() lock?: Lock,
  ): Promise<T> {
    this.runs += 1;
    return work(lock);
  }

  @Locked('work:<0>', { ttl: 400 })
  async brief<T>(_name: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  @Locked('work:<0>', { wait: 0 })
  async throwing(_name: string): Promise<string> {
    this.runs += 1;
    return 'ran';
  }

  @Locked('work:<0>', { wait: 0, onTimeout: 'skip' })
  async skipping(_name: string): Promise<string | undefined> {
    this.runs += 1;
    return 'ran';
  }

  @Locked('work:<0>', { wait: 0, onTimeout: (error, name: string) => `${error.code} of ${name}` })
  async replacing(_name: string): Promise<string> {
    this.runs += 1;
    return 'ran';
  }

  @Locked('work:<0>', {
    wait: 0,
    onTimeout: function (this: Work, { code }, name: string) {
      return `${code} of ${name} after ${this.runs} runs`;
    },
  })
  async countingInstead(_name: string): Promise<string> {
    return 'ran';
  }

  @Locked('work:<0>', { wait: 0, onTimeout: 'skip' })
  async nesting(_name: string): Promise<string | undefined> {
    return this.throwing('nested');
  }

  @Locked('work:<0>', { label: 'by name' })
  async labelled<T>(_name: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  @Locked('work:<0>')
  async outer(name: string): Promise<[number | undefined, number | undefined]> {
    const outer = this.locks.current()?.fencingToken;
    return [outer, await this.call(name, (lock) => lock?.fencingToken)];
  }

  @Locked('work:<0>')
  query(name: string): Promise<[number | undefined, number | undefined]> {
    return lazily(() => this.outer(name));
  }

  @Locked('work:<0>')
  stream(_name: string): Observable<number> {
    this.runs += 1;
    return this.source;
  }

  @Locked('work:<0>')
  throwingStream(_name: string): Observable<number> {
    throw new Error('before the stream');
  }

  @Locked('work:<0>', { wait: 0, onTimeout: 'skip' })
  skippingStream(_name: string): Observable<number | undefined> {
    return of(1);
  }

  @Locked('work:<0>')
  async laterStream(_name: string): Promise<Observable<number>> {
    return this.source;
  }

  @Locked('work:<0>', { ttl: SHORT })
  async shortStream(_name: string): Promise<Observable<number>> {
    return this.source;
  }

  @Locked('work:<0>')
  untypedStream(_name: string): ObservableType<number> {
    return of(1);
  }

  @Locked('work:<0>')
  contextOfStream(_name: string): Observable<readonly string[]> {
    return from([1, 2]).pipe(concatMap(async () => this.locks.current()?.keys ?? []));
  }
}

@Injectable()
class NightWork extends Work {}

describe('a call of a locked method (row 13)', () => {
  const server = duringTests(() => RedisServer.start());
  const app = duringEachTest(() =>
    startModule({
      // A renewal, due after a third of it, notices a loss at the latest.
      imports: [RedisLockModule.forRoot({ connection: server.url, ttl: 3_000 })],
      providers: [Work, NightWork],
    }),
  );
  let work: Work;
  let locks: LockService;

  beforeEach(() => {
    [work, locks] = [app.get(Work), app.get(LockService)];
  });

  const isFree = async (): Promise<boolean> => {
    const lock = await locks.tryAcquire('work:a');
    await lock?.release();
    return lock !== undefined;
  };
  const taken = async (name: string, during: () => Promise<void>): Promise<void> => {
    await using _ = await locks.acquire(name);
    await during();
  };

  it('passes the error of the work unchanged, also if the hold was lost', async () => {
    const error = new Error('no');
    const failing = work.call('a', async (lock) => {
      await locks.forceRelease('work:a');
      await waitFor(() => lock?.signal.aborted);
      throw error;
    });
    await expect(failing).rejects.toBe(error);
  });

  it('fails with LockLostError when the work succeeded but its hold was lost', async () => {
    const lost = work.call('a', async (lock) => {
      await locks.forceRelease('work:a');
      await waitFor(() => lock?.signal.aborted);
      return 'done';
    });
    await expect(lost).rejects.toThrow(LockLostError);
  });

  it('succeeds when the work releases its lock early', async () => {
    const early = work.call('a', async (lock) => {
      await lock?.release();
      return isFree();
    });
    expect(await early).toBe(true);
  });

  it('fails with LockKeyError before it requests a lock', async () => {
    const acquire = jest.spyOn(locks, 'acquire');
    await expect(work.call('', () => 'done')).rejects.toThrow(LockKeyError);
    await expect(work.call('', () => 'done')).rejects.toThrow(/Work\.call.*work:<0>/s);
    expect(acquire).not.toHaveBeenCalled();
    expect(work.runs).toBe(0);
  });

  it('labels its hold with its method by default', async () => {
    const seen = (): readonly object[] =>
      locks.holds().map(({ label, method, template }) => ({ label, method, template }));
    const origin = { method: 'Work.call', template: 'work:<0>' };

    expect(await work.call('labels', seen)).toEqual([{ label: 'Work.call', ...origin }]);
    expect(await work.labelled('labels', async () => seen())).toEqual([
      { label: 'by name', method: 'Work.labelled', template: 'work:<0>' },
    ]);
    expect(await work.call('labels', async () => (await locks.query('work:labels')).held)).toMatchObject([
      { label: 'Work.call' },
    ]);
    // What the work acquires by itself is not the method's.
    expect(await work.call('labels', () => locks.using('plain', seen))).toContainEqual({
      label: undefined,
      method: undefined,
      template: undefined,
    });
  });

  it('is labelled with the class of its instance if the method is inherited', async () => {
    const labels = async (): Promise<unknown> => locks.holds().map(({ label, method }) => [label, method]);
    const night = app.get(NightWork);
    expect(await night.call('labels', labels)).toEqual([['NightWork.call', 'NightWork.call']]);
    expect(await night.labelled('labels', labels)).toEqual([['by name', 'NightWork.labelled']]);
    expect(await Reflect.apply(night.labelled<unknown>, undefined, ['labels', labels])).toEqual([
      ['by name', 'Work.labelled'],
    ]);
  });

  it('reuses the hold of a call around it', async () => {
    const [outer, inner] = await work.outer('a');
    expect(outer).toEqual(expect.any(Number));
    expect(inner).toBe(outer);
  });

  it('reuses the hold of a call around it that returns a lazy query', async () => {
    const [outer, inner] = await work.query('a');
    expect(outer).toEqual(expect.any(Number));
    expect(inner).toBe(outer);
  });

  it('does not wait for itself if a nested call releases its hold', async () => {
    const inner = await work.call('a', (outer) =>
      work.call('a', async (lock) => {
        await outer?.release();
        return lock?.held;
      }),
    );

    expect(inner).toBe(true);
    expect(await isFree()).toBe(true);
  });

  it('fails with LockLostError if a nested call has not released its hold by the end of the lease', async () => {
    const leaking = work.brief('a', async () => void (await locks.acquire('work:a')));

    await expect(leaking).rejects.toBeInstanceOf(LockLostError);
    expect(await isFree()).toBe(true);
  });

  describe('whose lock is taken', () => {
    it('fails with LockTimeoutError, and does not run', async () => {
      await taken('work:a', async () => {
        await expect(work.throwing('a')).rejects.toThrow(LockTimeoutError);
        expect(work.runs).toBe(0);
      });
    });

    it("resolves to undefined with onTimeout: 'skip', does not run, and is logged", async () => {
      await taken('work:a', async () => {
        const debug = jest.spyOn(Logger, 'debug').mockImplementation();
        expect(await work.skipping('a')).toBeUndefined();
        expect(work.runs).toBe(0);
        expect(debug.mock.calls).toEqual([
          ['Work.skipping was skipped: work:a was taken for the whole wait.', 'RedisLock'],
        ]);
        debug.mockRestore();
      });
      expect(await work.skipping('a')).toBe('ran');
    });

    it('returns the result of an onTimeout function of error, arguments and instance, and does not run', async () => {
      await taken('work:a', async () => {
        expect(await work.replacing('a')).toBe('LOCK_TIMEOUT of a');
        expect(await work.countingInstead('a')).toBe('LOCK_TIMEOUT of a after 0 runs');
        expect(work.runs).toBe(0);
      });
    });

    it('does not apply onTimeout to the timeout of a nested call', async () => {
      await taken('work:nested', async () => {
        await expect(work.nesting('a')).rejects.toThrow(LockTimeoutError);
      });
    });
  });

  describe('that returns an Observable', () => {
    it('acquires on subscribe and releases on completion', async () => {
      const stream = work.stream('a');
      expect(await isFree()).toBe(true);
      const values = lastValueFrom(stream.pipe(toArray()));
      await waitFor(() => work.source.observed);
      expect(await isFree()).toBe(false);
      work.source.next(1);
      work.source.complete();
      expect(await values).toEqual([1]);
      await waitFor(isFree);
    });

    it('acquires again for each subscription', async () => {
      const stream = work.stream('a');
      const ended: number[] = [];
      stream.subscribe({ complete: () => ended.push(1) });
      await waitFor(() => work.runs === 1);
      stream.subscribe({ complete: () => ended.push(2) });
      expect(work.runs).toBe(1);
      work.source.complete();
      await waitFor(() => ended.length === 2);
      expect(work.runs).toBe(2);
    });

    it('passes an error of the stream, and of the method, unchanged and releases', async () => {
      const failing = lastValueFrom(work.stream('a'));
      await waitFor(() => work.source.observed);
      const error = new Error('no');
      work.source.error(error);
      await expect(failing).rejects.toBe(error);
      await expect(lastValueFrom(work.throwingStream('a'))).rejects.toThrow('before the stream');
      await waitFor(isFree);
    });

    it('leaves nothing behind when it is unsubscribed during the wait', async () => {
      await taken('work:a', async () => {
        const acquire = jest.spyOn(locks, 'acquire');
        const subscription = work.stream('a').subscribe();
        const signal = acquire.mock.calls[0]?.[1]?.signal;
        expect(signal?.aborted).toBe(false);
        subscription.unsubscribe();
        expect(signal?.aborted).toBe(true);
      });
      await waitFor(isFree);
      expect(work.runs).toBe(0);
    });

    it('leaves nothing behind when it is unsubscribed right after the grant', async () => {
      const acquire = locks.acquire.bind(locks);
      const granted = jest.spyOn(locks, 'acquire').mockImplementationOnce(async (...args) => {
        const lock = await acquire(...args);
        subscription.unsubscribe();
        return lock;
      });
      const subscription = work.stream('a').subscribe();
      await granted.mock.results[0]?.value;
      await waitFor(isFree);
      expect(work.runs).toBe(0);
    });

    it('fails with LockLostError as soon as the hold is lost', async () => {
      const seen = new Subject<unknown>();
      const failed = lastValueFrom(seen);
      work
        .stream('a')
        .pipe(catchError((error: unknown) => of(error)))
        .subscribe(seen);
      await waitFor(() => work.source.observed);
      await locks.forceRelease('work:a');
      expect(await failed).toBeInstanceOf(LockLostError);
      expect(work.source.observed).toBe(false);
    });

    it("emits undefined and completes with onTimeout: 'skip'", async () => {
      await taken('work:a', async () => {
        expect(await lastValueFrom(work.skippingStream('a').pipe(toArray()))).toStrictEqual([undefined]);
      });
    });

    it('works in the async context of its lock', async () => {
      expect(await lastValueFrom(work.contextOfStream('a').pipe(toArray()))).toEqual([
        ['work:a'],
        ['work:a'],
      ]);
    });
  });

  describe('that returns an Observable without saying so', () => {
    it('warns once, and gives a Promise of it', async () => {
      const warn = jest.spyOn(Logger, 'warn').mockImplementation();
      for (const name of ['a', 'b']) {
        const stream = await (work.untypedStream(name) as unknown as Promise<Observable<number>>);
        expect(await lastValueFrom(stream)).toBe(1);
      }
      expect(warn).toHaveBeenCalledTimes(1);
      expect(warn.mock.calls[0]?.[0]).toContain('Work.untypedStream returns an Observable');
      warn.mockRestore();
    });
  });

  describe('that resolves to an Observable', () => {
    it('holds the lock until the last of several subscribers is gone', async () => {
      const stream = await work.laterStream('a');
      const [one, two] = [stream.subscribe(), stream.subscribe()];
      one.unsubscribe();
      expect(await isFree()).toBe(false);
      two.unsubscribe();
      await waitFor(isFree);
    });

    it('releases it without a subscriber within the lease, and starts nothing without it', async () => {
      const stream = await work.shortStream('a');
      await waitFor(isFree, { that: 'the lock to be free without a subscriber' });
      await expect(lastValueFrom(stream)).rejects.toThrow(LockLostError);
      expect(work.source.observed).toBe(false);
    });

    it('holds it for longer than the lease with a subscriber within it', async () => {
      await steadily(100, async () => {
        const stream = await work.shortStream('a');
        const subscription = stream.subscribe({ error: () => undefined });
        try {
          await delay(1.5 * SHORT);
          expect(await isFree()).toBe(false);
        } finally {
          subscription.unsubscribe();
        }
        await waitFor(isFree);
      });
    });

    it('does not start it again without the lock', async () => {
      const stream = await work.laterStream('a');
      stream.subscribe().unsubscribe();
      await waitFor(isFree);
      await expect(lastValueFrom(stream)).rejects.toThrow(LockLostError);
    });
  });
});
