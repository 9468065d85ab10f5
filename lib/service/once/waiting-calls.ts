import { ResultShared } from '../../diagnostics/once.channel.js';
import { Abandonment } from '../../primitives/abandonment.js';
import type { Mark } from '../../store/mark.js';

/** One for all calls, because each error would capture a stack. No caller receives it. */
const SHARED = new ResultShared('Another run has left its result.');

/** A call that waits for its name: it ends with the lock, an error, or the result of another run. */
export class WaitingCall extends Abandonment {
  mark: Pick<Mark, 'json'> | undefined;

  share(mark: Pick<Mark, 'json'>): void {
    this.mark = mark;
    this.abort(SHARED);
  }
}

/** The calls of one instance that wait for a result, by name. */
export class WaitingCalls {
  private readonly byName = new Map<string, Set<WaitingCall>>();

  get names(): Iterable<string> {
    return [...this.byName.keys()];
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  add(name: string, call: WaitingCall): void {
    const calls = this.byName.get(name);
    if (calls) calls.add(call);
    else this.byName.set(name, new Set([call]));
  }

  remove(name: string, call: WaitingCall): void {
    const calls = this.byName.get(name);
    calls?.delete(call);
    if (calls?.size === 0) this.byName.delete(name);
  }

  /**
   * Requests a mark, and shares it with the calls that wait now. Later calls are left out: the mark may have been
   * deleted between the request and their arrival.
   */
  async shareNext<Found extends Pick<Mark, 'json'>>(
    name: string,
    request: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const calls = [...(this.byName.get(name) ?? [])];
    const mark = await request();
    if (mark) for (const call of calls) call.share(mark);
    return mark;
  }
}
