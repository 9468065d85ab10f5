import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant, shares, taken } from './scripted-store.js';

describe('A single attempt', () => {
  let fixture: EngineFixture;
  beforeEach(() => (fixture = new EngineFixture()));

  it('reports an outage when an earlier request is still unanswered', async () => {
    observe(fixture.acquire({ outageTimeout: 100 }));
    await fixture.clock.advance(150);
    const attempt = observe(fixture.acquire({ wait: 0, outageTimeout: 100 }));
    await fixture.clock.advance(150);

    expect(attempt.error).toBeInstanceOf(LockUnavailableError);
  });

  it('reports an outage when the request of an earlier caller is unanswered', async () => {
    const ahead = observe(fixture.acquire({ outageTimeout: 1_000 }));
    const attempt = observe(fixture.acquire({ wait: 0, outageTimeout: 100 }));
    await fixture.clock.advance(100);

    expect(ahead).toEqual({});
    expect(attempt.error).toBeInstanceOf(LockUnavailableError);
  });

  it('ends when every grant arrives too late for its lease, and releases the last one', async () => {
    const attempt = observe(fixture.acquire({ wait: 0, ttl: 40, outageTimeout: 200 }));
    for (let token = 100; attempt.error === undefined && token < 110; token++) {
      const call = await fixture.store.next('acquire');
      await fixture.clock.advance(38);
      await call.answer(grant(token));
    }

    expect(attempt.error).toBeInstanceOf(LockUnavailableError);
    await fixture.store.next('release');
    expect(fixture.store.unseen('acquire')).toBe(0);
  });

  it('ends as taken when the caller ahead gets the lock', async () => {
    const ahead = observe(fixture.acquire());
    const attempt = observe(fixture.acquire({ wait: 0 }));
    const waiting = observe(fixture.acquire());
    await fixture.store.answer('acquire', grant(100));

    expect(ahead.value?.held).toBe(true);
    expect(attempt.error).toBeInstanceOf(LockTimeoutError);
    expect(waiting).toEqual({});
  });

  it('ends as taken when others split the votes of a quorum with it until its time ends', async () => {
    const attempt = observe(fixture.acquire({ wait: 0, outageTimeout: 100 }));
    await fixture.clock.advance(60);
    fixture.engine.queues.get('n')?.report({ kind: 'contended' });
    await fixture.clock.advance(60);

    expect(attempt.error).toBeInstanceOf(LockTimeoutError);
  });

  it('ends as taken when the caller ahead has to wait', async () => {
    const ahead = observe(fixture.acquire());
    const attempt = observe(fixture.acquire({ wait: 0 }));
    await fixture.store.answer('acquire', taken(50));

    expect(ahead).toEqual({});
    expect(attempt.error).toMatchObject({
      code: 'LOCK_TIMEOUT',
      holder: { owner: 'other-1-v1-000000000000:1' },
    });
  });

  it('may succeed in shared mode after an exclusive attempt was rejected', async () => {
    const exclusive = observe(fixture.acquire({ wait: 0 }));
    const shared = observe(fixture.acquire({ wait: 0, mode: 'shared' }));
    await fixture.store.answer('acquire', taken(50));
    await fixture.store.answer('share', shares('s1', 100));

    expect(exclusive.error).toBeInstanceOf(LockTimeoutError);
    expect(shared.value?.held).toBe(true);
  });

  it.each([
    ['', false, { name: 'LockTimeoutError', code: 'LOCK_TIMEOUT' }],
    [' at once, also when it has given up before the answer', true, { message: 'gone home' }],
  ])('leaves the queue to a caller behind it%s', async (_, givesUp, error) => {
    const aborter = new AbortController();
    const attempt = observe(fixture.acquire({ wait: 0, signal: aborter.signal }));
    const waiting = observe(fixture.acquire());
    if (givesUp) aborter.abort(new Error('gone home'));
    await fixture.store.answer('acquire', taken(50));
    const again = await fixture.store.next('acquire');
    await again.answer(grant(100));

    expect(attempt.error).toMatchObject(error);
    expect(again.request.place).toBeDefined();
    expect(waiting.value?.held).toBe(true);
  });

  it('takes the lock that a caller no longer wants', async () => {
    const aborter = new AbortController();
    observe(fixture.acquire({ signal: aborter.signal }));
    aborter.abort();
    const attempt = observe(fixture.acquire({ wait: 0 }));
    await fixture.store.answer('acquire', grant(100));

    expect(attempt.value?.held).toBe(true);
  });

  it('is rejected at once if the lock is known to be taken', async () => {
    const hold = await fixture.hold();
    const attempt = observe(fixture.acquire({ wait: 0 }));
    await settle();

    expect(hold.held).toBe(true);
    expect(attempt.error).toMatchObject({ code: 'LOCK_TIMEOUT', waited: 0, holder: { owner: 'me:100' } });
  });
});
