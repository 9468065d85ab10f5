import { Injectable } from '@nestjs/common';
import { firstValueFrom, map, of, Observable, timer } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { startModule } from './support/start-module.js';

/** Whether the source emits inside its hold, and its subscriber receives the value there. */
interface Seen {
  readonly source: boolean;
  readonly subscriber: boolean;
}

@Injectable()
class Feed {
  constructor(private readonly locks: LockService) {}

  @Locked('feed')
  now(): Observable<boolean> {
    return of(1).pipe(map(() => this.isBelow));
  }

  @Locked('feed')
  soon(): Observable<boolean> {
    return timer(1).pipe(map(() => this.isBelow));
  }

  @Locked('feed')
  async promised(): Promise<Observable<boolean>> {
    return timer(1).pipe(map(() => this.isBelow));
  }

  private get isBelow(): boolean {
    return this.locks.current('feed') !== undefined;
  }
}

describe('A subscriber of a locked stream', () => {
  const app = duringTests(() =>
    startModule({ imports: [RedisLockModule.forRoot({ connection: 'memory' })], providers: [Feed] }),
  );
  let feed: Feed;
  let locks: LockService;

  beforeEach(() => {
    [feed, locks] = [app.get(Feed), app.get(LockService)];
  });

  const seen = (source: boolean): Seen => ({ source, subscriber: locks.current('feed') !== undefined });

  it.each([
    ['at once', () => feed.now()],
    ['later', () => feed.soon()],
  ])('is not nested in the hold in which the source emits: %s', async (_when, stream) => {
    expect(await firstValueFrom(stream().pipe(map(seen)))).toEqual({ source: true, subscriber: false });
  });

  it('is not nested in the hold of a stream that a Promise resolves to', async () => {
    const stream = await feed.promised();
    expect(await firstValueFrom(stream.pipe(map(seen)))).toEqual({ source: true, subscriber: false });
  });
});
