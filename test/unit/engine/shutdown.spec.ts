import { waitFor } from '../../support/wait-for.js';
import { EngineFixture, observe } from './engine-fixture.js';

describe('An instance that was shut down', () => {
  it('stops renewing the lease of a holder that did not end', async () => {
    const fixture = new EngineFixture();
    const hold = await fixture.hold({ ttl: 60_000 });
    await fixture.clock.advance(20_000);
    const renewal = await fixture.store.next('extend');
    const closed = observe(fixture.engine.close(5_000).then(() => true));
    await waitFor(async () => {
      await fixture.clock.advance(100);
      return closed.value;
    });
    expect(hold.signal.aborted).toBe(true);
    await renewal.fail(new Error('The connection was closed.'));

    expect(fixture.clock.pending).toBe(0);
    expect(fixture.store.unseen('extend')).toBe(0);
  });

  it('reports each hold that is left: its name, its label, its age and the end of its lease', async () => {
    const fixture = new EngineFixture();
    await fixture.hold({ ttl: 60_000, label: 'OrdersService.pay' }, { name: 'order:42' });
    await fixture.clock.advance(1_000);
    const closed = observe(fixture.engine.close(200).then(() => true));
    await waitFor(async () => {
      await fixture.clock.advance(100);
      return closed.value;
    });

    expect(fixture.warnings).toEqual([
      expect.stringMatching(
        /^Lock "order:42" \(OrdersService\.pay\) is still held at the end of the shutdown: its work has run for \d{4} ms and did not end within shutdownTimeout \(200 ms\)\. Other instances can acquire the lock when its lease ends in 5\d{4} ms\.$/,
      ),
    ]);
  });

  it('gives a request without a reply the reason', async () => {
    const { engine } = new EngineFixture();
    const requested = engine.request('order:42', async () => {
      await engine.close(0);
      throw new Error('Connection is closed.');
    });

    await expect(requested).rejects.toMatchObject({ code: 'LOCK_CLOSED', keys: ['order:42'] });
  });

  it('reports no hold that is released when its signal aborts', async () => {
    const fixture = new EngineFixture();
    const hold = await fixture.hold({ ttl: 60_000 });
    hold.signal.addEventListener('abort', () => void hold.release());
    const closed = observe(fixture.engine.close(200).then(() => true));
    await waitFor(async () => {
      await fixture.clock.advance(50);
      return hold.signal.aborted;
    });
    await fixture.store.answer('release', true);
    await waitFor(async () => {
      await fixture.clock.advance(100);
      return closed.value;
    });

    expect(fixture.warnings).toEqual([]);
  });
});
