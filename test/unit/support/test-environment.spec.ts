import { AsyncLocalStorage } from 'node:async_hooks';
import TestEnvironment from '../../../tools/test-environment.cjs';

const CONFIG = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} };

describe('the environment of a spec', () => {
  it('ends the async storages that were used while it was there, which otherwise slow down all later specs', async () => {
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
});
