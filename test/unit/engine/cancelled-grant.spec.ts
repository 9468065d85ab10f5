import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { taken } from './scripted-store.js';

describe('A grant that was on its way when the last waiter left', () => {
  it('is released, and never adopted: its release may arrive late', async () => {
    const fixture = new EngineFixture();
    const abort = new AbortController();
    observe(fixture.acquire({ signal: abort.signal }));
    (await fixture.store.next('acquire')).answer(taken(50));
    await settle();
    abort.abort();
    (await fixture.store.next('cancel')).answer(['me:100']);
    await settle();

    expect((await fixture.store.next('release')).request.owner).toBe('me:100');
    observe(fixture.acquire());
    expect((await fixture.store.next('acquire')).request.endedToken).toBe(100);
  });
});
