import { AsyncLocalStorage } from 'node:async_hooks';
import { SystemClock } from '../../../lib/primitives/clock.js';
import { inRootContext } from '../../../lib/primitives/root-context.js';

const callers = new AsyncLocalStorage<string>();

describe('SystemClock', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each<readonly [string, (clock: SystemClock, call: () => void) => void]>([
    ['a scheduled call', (clock, call) => void clock.schedule(call, 1)],
    ['a call after the input', (clock, call) => clock.afterInput(call)],
    [
      'what is told of a sleep',
      (clock, call) => {
        clock.onSleep(call);
        const later = Date.now() + 60_000;
        jest.spyOn(Date, 'now').mockReturnValue(later);
        clock.now();
      },
    ],
  ])('runs %s outside all async contexts, and so keeps none alive', async (_, ask) => {
    const clock = new SystemClock();
    const seen = new Promise((resolve) => {
      callers.run('caller', () => ask(clock, () => resolve(callers.getStore())));
    });

    expect(await seen).toBeUndefined();
  });
});

describe('inRootContext', () => {
  it('shows nothing of the caller’s context, nor of an earlier call’s', () => {
    const look = (): string | undefined => inRootContext(() => callers.getStore());

    expect(callers.run('caller', look)).toBeUndefined();
    inRootContext(() => callers.enterWith('left behind'));
    expect(look()).toBeUndefined();
    expect(callers.run('caller', () => inRootContext(() => 'result'))).toBe('result');
  });
});
