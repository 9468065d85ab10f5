import { LockConfigError } from '../../../lib/errors/lock.error.js';
import { PassingRefusal } from '../../../lib/store/store-errors.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';

describe('A store that has answered with an error, and then falls silent', () => {
  it('has rejected the requests before the error, and not answered those after it', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const refused = observe(fixture.acquire({ outageTimeout: 1_000 }));
    await clock.advance(100);
    await store.fail('acquire', new PassingRefusal('OOM command not allowed.'));
    await clock.advance(100);
    const unanswered = observe(fixture.acquire({ outageTimeout: 1_000 }));
    await clock.advance(1_000);

    expect(String(refused.error)).toContain('Redis refused the request (OOM command not allowed)');
    expect(String(unanswered.error)).toContain('Redis did not answer in time');
  });
});

describe('A store that cannot be used', () => {
  it('rejects waiters and new callers, each with the name of its call', async () => {
    const fixture = new EngineFixture();
    const waiting = observe(fixture.acquire({}, 'a'));
    await fixture.store.next('acquire');
    fixture.events.unusable(new LockConfigError('Redis is too old.'));
    const arriving = observe(fixture.acquire({}, 'b'));
    await settle();

    const expected = ['a', 'b'].map((name) => ({ message: 'Redis is too old.', keys: [name] }));
    expect([waiting.error, arriving.error]).toMatchObject(expected);
  });
});
