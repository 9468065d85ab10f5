import { AsyncLocalStorage } from 'node:async_hooks';
import vm from 'node:vm';
import TestEnvironment from '../../../tools/test-environment.cjs';

const CONFIG = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} };

describe('the environment of a spec', () => {
  it('ends the async storages that it used, which would slow down all later specs', async () => {
    const { run, enterWith } = AsyncLocalStorage.prototype;
    const environment = new TestEnvironment({ projectConfig: CONFIG } as never, {} as never);
    const [entered, ran] = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
    const ended = jest.spyOn(ran, 'disable');
    await environment.setup();
    entered.enterWith('kept');
    ran.run('kept', () => undefined);
    await environment.teardown();

    expect(entered.getStore()).toBeUndefined();
    expect(ended).toHaveBeenCalledTimes(1);
    expect(AsyncLocalStorage.prototype).toMatchObject({ run, enterWith });
  });

  it('compiles the text of a module once, and again if the text or the parameters differ', async () => {
    const compileFunction = jest.spyOn(vm, 'compileFunction');
    const environment = new TestEnvironment({ projectConfig: CONFIG } as never, {} as never);
    await environment.setup();
    const text = `return () => a + ${Math.random()};`;
    const [first, again, other] = [['a'], ['a'], ['b', 'a']].map((parameters) =>
      vm.compileFunction(text, parameters, { filename: `${parameters.length}.js` }),
    );
    await environment.teardown();
    const options = compileFunction.mock.calls.map(([, , given]) => given);
    compileFunction.mockRestore();

    expect(again?.(1)()).toBe(first?.(1)());
    expect(other?.(0, 1)()).toBe(first?.(1)());
    expect(options.map((given) => Boolean(given?.cachedData))).toEqual([false, true, false]);
    expect(Object(again)).toHaveProperty('cachedDataRejected', false);
  });
});
