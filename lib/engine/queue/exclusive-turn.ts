import type { Grant } from '../../store/grant.js';
import { Turn } from './turn.js';
import type { Waiter } from './waiter.js';

/** A turn for the lock alone: one grant, whose fencing tokens the callers here use one after the other. */
export class ExclusiveTurn extends Turn {
  readonly terms = undefined;
  readonly isFresh = true;
  protected readonly placeless = '';

  get tokens(): number {
    const { size } = this.callers.line;
    return size <= 1 ? 1 : this.callers.tokensFor(size);
  }

  /** One that has left no trace in the store may still become another. */
  suits(waiter: Waiter): boolean {
    return this.serves(waiter) || (this.place === undefined && !this.isInDoubt);
  }

  serves({ options }: Waiter): boolean {
    return options.mode === 'exclusive';
  }

  awaits({ turn }: Grant): boolean {
    return turn === undefined;
  }
}
