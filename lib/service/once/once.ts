import { publishOnce } from '../../diagnostics/once.channel.js';
import type { Lock } from '../../engine/hold/lock.interface.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import type { LockEngine } from '../../engine/lock-engine.js';
import { GONE, lostError, requestError } from '../../engine/lock-errors.js';
import { LockConfigError, LockUnavailableError } from '../../errors/lock.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { ResolvedOnceOptions } from '../../options/once-options.js';
import { unlessAborted } from '../../primitives/abandonment.js';
import { answerWithin, sleep } from '../../primitives/answer-within.js';
import type { Mark, MarkStore } from '../../store/mark.js';
import { isRefusal } from '../../store/store-errors.js';
import { OnceLock, SharedResult } from './once-lock.js';
import { WaitingCall, WaitingCalls } from './waiting-calls.js';

/** Milliseconds until a request without a reply is repeated. */
const PAUSE = 50;

/** What calls of `once` use of their service. */
export interface OnceSurroundings {
  readonly engine: Pick<LockEngine, 'clock' | 'done' | 'marksOf' | 'request' | 'requestError'>;
  /** Maximum bytes of a result. */
  readonly maxResult: number;
  /** Acquires the name, or reuses a surrounding hold of it. */
  acquire(name: string, options: ResolvedLockOptions): Promise<ReusableLock>;
  /** Runs work in the async context of a lock. */
  runInContext<T>(lock: Lock, work: () => T): T;
}

/** A name with the resolved options of a call of `once`. */
export interface OnceEntry extends ResolvedOnceOptions {
  readonly name: string;
}

/** A call of `once`, with its work. */
export interface OnceCall<T> extends OnceEntry {
  readonly run: (lock: Lock) => T | Promise<T>;
}

/**
 * Runs work once for all instances, and shares its result.
 *
 * A call reads the mark of its name. Without one it acquires the name, reads the mark again, because another run may
 * have left it meanwhile, and runs. If the owner still has the lock, one script keeps the result, notifies the waiting
 * instances and releases the lock. They read the mark, one request for all their waiting calls, and leave the queue. A
 * call that misses the message is granted the lock later, and finds the mark then.
 */
export class Once {
  private readonly waiting = new WaitingCalls();
  /** The locks of the runs of this instance. */
  private readonly running = new Map<string, ReusableLock>();

  constructor(private readonly surroundings: OnceSurroundings) {
    surroundings.engine.done = (name) => {
      for (const each of name === undefined ? this.waiting.names : [name]) void this.look(each);
    };
  }

  async call<T>(call: OnceCall<T>): Promise<T> {
    const entered = await this.enter(call);
    if (entered instanceof SharedResult) return entered.copy() as T;
    try {
      const result = await this.surroundings.runInContext(entered, () => call.run(entered));
      entered.assertNotLost();
      entered.note(result);
      await entered.keepResult();
      return result;
    } finally {
      await entered.release();
    }
  }

  /** Returns the result of another run, or the lock for a run. */
  async enter(call: OnceEntry): Promise<OnceLock | SharedResult> {
    const { name, lock: options } = call;
    const { clock } = this.surroundings.engine;
    const marks = this.marksOf(name);
    options.signal?.throwIfAborted();
    const startedAt = clock.now();
    // While a run of this instance holds the lock, there is no mark.
    const mark = this.running.get(name)?.held ? undefined : await this.readSoon(marks, name, options);
    if (mark) return share(call, mark, 'kept');
    const took = clock.now() - startedAt;
    const left = {
      wait: Math.max(0, options.wait - took),
      outageTimeout: Math.max(0, options.outageTimeout - took),
    };
    const caller = new WaitingCall(options.signal);
    this.waiting.add(name, caller);
    try {
      const lock = await this.surroundings.acquire(name, { ...options, ...left, signal: caller.signal });
      this.waiting.remove(name, caller);
      return await this.beginUnlessRun(lock, marks, caller, call);
    } catch (error) {
      if (caller.mark && error === caller.reason) return share(call, caller.mark, 'shared');
      throw error;
    } finally {
      this.waiting.remove(name, caller);
    }
  }

  /** Deletes the mark of a name; resolves to whether there was one. */
  forget(name: string): Promise<boolean> {
    const marks = this.marksOf(name);
    return this.surroundings.engine.request(name, () => marks.delete(name));
  }

  /** Reads the mark before the acquire. Without a reply in time, the acquire reports the outage. */
  private readSoon(
    marks: MarkStore,
    name: string,
    { outageTimeout, signal, wait }: ResolvedLockOptions,
  ): Promise<Mark | undefined> {
    const time = wait === 0 ? outageTimeout : Math.min(wait, outageTimeout);
    const reading = answerWithin(this.surroundings.engine.clock, marks.read(name), time).catch(
      () => undefined,
    );
    return unlessAborted(reading, signal);
  }

  /**
   * Begins a run under its lock, unless another run has left a mark before the lock was granted. A caller that leaves
   * during the read does not run. A mark that was requested before, for the calls that waited, ends the read.
   */
  private async beginUnlessRun(
    lock: ReusableLock,
    marks: MarkStore,
    caller: WaitingCall,
    call: OnceEntry,
  ): Promise<OnceLock | SharedResult> {
    const { engine } = this.surroundings;
    const { lock: options, name } = call;
    const read = (): Promise<Mark | undefined> =>
      this.waiting.shareNext(name, () => this.insist(options, () => marks.read(name)));
    let mark: Pick<Mark, 'json'> | undefined;
    try {
      mark = caller.mark ?? (await unlessAborted(read(), caller.signal));
    } catch (cause) {
      mark = caller.mark;
      if (mark === undefined) {
        const error = options.signal?.reason === cause ? cause : engine.requestError([name], cause);
        await lock.release();
        throw error;
      }
    }
    if (mark === undefined) return this.begin(lock, marks, call);
    await lock.release();
    return share(call, mark, 'shared');
  }

  private begin(lock: ReusableLock, marks: MarkStore, call: OnceEntry): OnceLock {
    this.running.set(call.name, lock);
    return new OnceLock(lock, {
      maxResult: this.surroundings.maxResult,
      keep: (json) => this.keep(lock, marks, call, json),
      end: () => {
        if (this.running.get(call.name) === lock) this.running.delete(call.name);
      },
      publish: (outcome) => publishOnce(call.name, call.lock, outcome),
    });
  }

  /** Keeps the result if the lock is still held, and shares it with the calls that wait here. */
  private async keep(
    lock: ReusableLock,
    marks: MarkStore,
    { keep, lock: options, name }: OnceEntry,
    json: string,
  ): Promise<void> {
    const isKept = await lock.endBy(async (releases) => {
      const request = { name, owner: lock.owner, token: lock.fencingToken, json, keep, releases };
      const mark = await this.waiting.shareNext(name, async () => {
        const reply = this.insist(options, () => marks.keep(request)).catch((cause: unknown) =>
          Promise.reject(unkeptError(name, cause)),
        );
        return (await reply) ? { json } : undefined;
      });
      return mark !== undefined;
    });
    if (isKept) return;
    lock.assertNotLost();
    throw lostError([name], GONE);
  }

  /** Repeats a request until the store replies, for at most `outageTimeout`. */
  private async insist<T>({ outageTimeout }: ResolvedLockOptions, send: () => Promise<T>): Promise<T> {
    const { clock } = this.surroundings.engine;
    const end = clock.now() + outageTimeout;
    for (;;) {
      try {
        return await send();
      } catch (error) {
        if (isRefusal(error) || clock.now() + PAUSE >= end) throw error;
      }
      await sleep(clock, PAUSE);
    }
  }

  private marksOf(name: string): MarkStore {
    const marks = this.surroundings.engine.marksOf(name);
    if (marks) return marks;
    throw new LockConfigError(
      'A quorum keeps no results, because its nodes could keep different ones: call once() on one Redis, or keep the ' +
        'result in your database.',
      { keys: [name] },
    );
  }

  /** Reads the mark for the calls that wait here. */
  private async look(name: string): Promise<void> {
    if (!this.waiting.has(name)) return;
    // Without a reply, a call that is granted the lock reads the mark again.
    await this.waiting.shareNext(name, () => this.marksOf(name).read(name)).catch(() => undefined);
  }
}

function share(
  { name, lock }: OnceEntry,
  { json }: Pick<Mark, 'json'>,
  outcome: 'shared' | 'kept',
): SharedResult {
  publishOnce(name, lock, outcome);
  return new SharedResult(json);
}

/** The error of a run whose result the store refused, or did not confirm. */
function unkeptError(name: string, cause: unknown): LockUnavailableError {
  const { keys, message } = requestError([name], cause);
  const outcome = isRefusal(cause)
    ? 'but its result is not kept, so the next call runs it again.'
    : 'and if its result is not kept, the next call runs it again.';
  return new LockUnavailableError(`${message} The work has run, ${outcome}`, { keys, cause });
}
