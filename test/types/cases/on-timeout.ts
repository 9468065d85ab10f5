import { ConflictException } from '@nestjs/common';
import { Locked, type LockedOptions } from 'nest-redis-lock';
import { of, type Observable } from 'rxjs';
import { Channel, type PlaceOrder } from './place-order.js';

interface Page {
  readonly items: string[];
  readonly state: 'ready' | 'busy';
  readonly parent?: Page;
  readonly due?: Date | null;
}

class Report {
  private readonly secret = 1;
  constructor(readonly id: string) {}
  open(): number {
    return this.secret;
  }
}

type Answer = { ok: true; id: string } | { ok: false; reason: string };

const shared: LockedOptions = { wait: 0 };
const perhaps = 'skip' as 'throw' | 'skip';
const skipping = { onTimeout: 'skip' } as const;

export class Fits {
  @Locked('x', { onTimeout: 'throw' }) async throws(): Promise<string> {
    return '';
  }
  @Locked('x', shared) async notKnown(): Promise<string> {
    return '';
  }
  @Locked('x', { onTimeout: perhaps }) async oneOfTwoWords(): Promise<string> {
    return '';
  }
  @Locked('x', { onTimeout: 'skip' }) async skipNothing() {}
  @Locked('x', { onTimeout: 'skip' }) async skipVoid(): Promise<void> {}
  @Locked('x', { onTimeout: 'skip' }) async skipOptional(): Promise<string | undefined> {
    return '';
  }
  @Locked('x', { onTimeout: 'skip' }) async skipVoidOr(): Promise<string | void> {}
  @Locked('x', { onTimeout: 'skip' }) async skipUnknown(): Promise<unknown> {
    return '';
  }
  @Locked('x', { onTimeout: 'skip' }) async skipAny(): Promise<any> {
    return '';
  }
  @Locked('x', { onTimeout: 'skip' }) any(): any {
    return '';
  }
  @Locked('x', { onTimeout: 'skip' }) skipOfStream(): Observable<string | undefined> {
    return of('');
  }
  @Locked('x', skipping) async skipByConstant() {}
  @Locked('x', {
    onTimeout: () => {
      throw new ConflictException();
    },
  })
  async throwsAnother(): Promise<string> {
    return '';
  }
  @Locked('x', { onTimeout: () => 5 }) async anythingForNothing() {}
  @Locked('x', { onTimeout: (error) => error.waited }) async number(): Promise<number> {
    return 1;
  }
  @Locked('x', { onTimeout: async () => 5 }) async promised(): Promise<number> {
    return 1;
  }
  @Locked('x', { onTimeout: () => {} }) async nothing(): Promise<string | undefined> {
    return '';
  }
  @Locked('x', { onTimeout: () => null }) async nullable(): Promise<string | null> {
    return '';
  }
  @Locked('x', { onTimeout: () => 'busy' }) async word(): Promise<'busy' | 'done'> {
    return 'done';
  }
  @Locked('x', { onTimeout: () => [] }) async emptyArray(): Promise<string[]> {
    return [];
  }
  @Locked('x', { onTimeout: () => ({ items: [], state: 'busy' }) }) async object(): Promise<Page> {
    return { items: [], state: 'ready' };
  }
  @Locked('x', { onTimeout: () => ({ ok: false, reason: 'busy' }) }) async union(): Promise<Answer> {
    return { ok: true, id: '' };
  }
  @Locked('x', { onTimeout: () => new Report('none') }) async instance(): Promise<Report> {
    return new Report('');
  }
  @Locked('x', { onTimeout: () => Channel.Phone }) async ofEnum(): Promise<Channel> {
    return Channel.Shop;
  }
  @Locked('x:<0.sku>', { onTimeout: (error, order: PlaceOrder) => order }) async argument(
    order: PlaceOrder,
  ): Promise<PlaceOrder> {
    return order;
  }
  @Locked('x', { onTimeout: () => JSON.parse('{}') }) async untyped(): Promise<Page> {
    return { items: [], state: 'ready' };
  }
  @Locked('x', { onTimeout: () => 5 }) stream(): Observable<number> {
    return of(1);
  }
  @Locked('x', { onTimeout: () => of(5) }) streamForStream(): Observable<number> {
    return of(1);
  }
  @Locked('x', { onTimeout: () => of(5) }) async promiseOfStream(): Promise<Observable<number>> {
    return of(1);
  }
}

export abstract class Repository<T extends { id: string }> {
  @Locked('all', { onTimeout: 'skip' }) async find(): Promise<T | undefined> {
    return undefined;
  }
  @Locked('all:<0>', { onTimeout: () => [] }) async list(page: number): Promise<T[]> {
    return [];
  }
  @Locked('entity:<0.id>', { onTimeout: 'skip' }) async save(entity: T): Promise<T | undefined> {
    return entity;
  }
  @Locked('all', { onTimeout: 'skip' }) async clear() {}

  @Locked('entity:<0.id>', { onTimeout: 'skip' }) // error: onTimeout: 'skip' gives undefined
  async saveAlways(entity: T): Promise<T> {
    return entity;
  }
}

export class DoesNotFit {
  @Locked('x', { onTimeout: 'skip' }) // error: onTimeout: 'skip' gives undefined, which the result of the method does not include
  async skip(): Promise<string> {
    return '';
  }
  @Locked('x:<0>', { wait: 0, onTimeout: 'skip' }) // error: onTimeout: 'skip' gives undefined
  async skipWithKey(id: string): Promise<Page> {
    return { items: [], state: 'ready' };
  }
  @Locked('x', skipping) // error: onTimeout: 'skip' gives undefined
  async skipByConstant(): Promise<string | null> {
    return '';
  }
  @Locked('x', { onTimeout: 'skip' }) // error: onTimeout: 'skip' gives undefined
  skipOfStream(): Observable<string> {
    return of('');
  }
  @Locked('x', { onTimeout: () => 5 }) // error: onTimeout gives what the result of the method does not include
  async number(): Promise<string> {
    return '';
  }
  @Locked('x:<0>', { onTimeout: (error, id: string) => ({ id, busyFor: error.waited }) }) // error: onTimeout gives what
  async lacking(id: string): Promise<Page> {
    return { items: [], state: 'ready' };
  }
  @Locked('x', { onTimeout: async () => 5 }) // error: onTimeout gives what
  async promised(): Promise<string> {
    return '';
  }
  @Locked('x', { onTimeout: () => {} }) // error: onTimeout
  async nothing(): Promise<string> {
    return '';
  }
  @Locked('x', { onTimeout: () => of('') }) // error: onTimeout gives what
  async stream(): Promise<string> {
    return '';
  }
  @Locked('x', { onTimeout: () => of(5) }) // error: onTimeout gives what
  otherStream(): Observable<string> {
    return of('');
  }
}
