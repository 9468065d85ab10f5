import { waitFor } from '../../support/wait-for.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';

describe('An instance that was shut down', () => {
  it('asks no more for the lease of a holder that did not end', async () => {
    const fixture = new EngineFixture();
    const hold = await fixture.hold({ ttl: 60_000 });
    await fixture.clock.advance(20_000);
    const renewal = await fixture.store.next('extend');
    const closed = observe(fixture.engine.close().then(() => true));
    await waitFor(async () => {
      await fixture.clock.advance(100);
      return closed.value;
    });
    expect(hold.signal.aborted).toBe(true);
    renewal.fail(new Error('The connection was closed.'));
    await settle();

    expect(fixture.clock.pending).toBe(0);
    expect(fixture.store.unseen('extend')).toBe(0);
  });
});
