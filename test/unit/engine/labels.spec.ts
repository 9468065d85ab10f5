import { Labels } from '../../../lib/engine/hold/labels.js';
import { ManualClock, settle } from './manual-clock.js';
import { ScriptedStore } from './scripted-store.js';

const HELD = { name: 'n', owner: 'web-7-v1-0123456789ab:1' };

describe('The label of a hold elsewhere', () => {
  it('is requested again ten seconds after its instance did not answer', async () => {
    const clock = new ManualClock();
    const send = jest.fn(() => Promise.resolve(true));
    const labels = new Labels('me', clock, Object.assign(new ScriptedStore(), { send }), () => undefined);
    const request = async (): Promise<number> => {
      send.mockClear();
      const label = labels.of([HELD]);
      await settle();
      await clock.advance(120);
      expect(await label).toEqual([undefined]);
      return send.mock.calls.length;
    };

    expect(await request()).toBe(3);
    await clock.advance(9_880);
    expect(await request()).toBe(0);
    expect(await request()).toBe(3);
  });
});
