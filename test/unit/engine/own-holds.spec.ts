import { EngineFixture } from './engine-fixture.js';
import { ManualClock } from './manual-clock.js';

/** Of a process that is kept from its processor for so many ms whenever it asks for the time. */
class SlowClock extends ManualClock {
  lag = 0;
  private lost = 0;

  override now(): number {
    return super.now() + (this.lost += this.lag);
  }
}

describe('The list of own holds', () => {
  it('has the oldest hold first, also in a process that was paused meanwhile', async () => {
    const clock = new SlowClock();
    const fixture = new EngineFixture({}, clock);
    for (const [token, name] of ['a', 'b', 'c'].entries()) {
      await fixture.hold({}, { name, token: 100 * (token + 1) });
      await clock.advance(1);
    }
    clock.lag = 50;

    expect(fixture.engine.holds().map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('counts the age of a hold whose lock was passed on from when its caller got it', async () => {
    const fixture = new EngineFixture();
    const first = await fixture.hold({}, { name: 'passed on', tokens: 2 });
    await fixture.hold({}, { name: 'kept', token: 200 });
    const second = fixture.acquire({}, 'passed on');
    await fixture.clock.advance(5);
    void first.release();
    await second;

    expect(fixture.engine.holds().map(({ name }) => name)).toEqual(['kept', 'passed on']);
  });
});
