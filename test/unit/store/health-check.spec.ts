import { HealthCheck } from '../../../lib/store/health-check.js';
import type { LockStore } from '../../../lib/store/lock-store.js';
import type { StoreNode } from '../../../lib/store/store-operations.js';
import { grant, ScriptedStore, taken } from '../engine/scripted-store.js';
import { settle } from '../engine/manual-clock.js';

/** Long enough for a busy machine where the check should end by itself. */
const LONG = 20_000;

describe('A health check of a store', () => {
  const never = new Promise<never>(() => {});

  it('finds nothing wrong with a store that grants and releases', async () => {
    const store = new ScriptedStore();
    const health = new HealthCheck(store).check(LONG);
    const { request, answer } = await store.next('acquire');
    await answer(grant(7));
    const release = await store.next('release');
    await release.answer(true);

    expect(await health).toMatchObject({ trouble: undefined, nodes: undefined });
    expect(request).toMatchObject({ place: undefined, tokens: 1 });
    expect(release.request).toEqual({ name: request.name, owner: 'me:7' });
  });

  it('uses another name in each instance', async () => {
    const [first, second] = [new ScriptedStore(), new ScriptedStore()];
    void new HealthCheck(first).check(1);
    void new HealthCheck(second).check(1);

    const names = [first, second].map(async (store) => (await store.next('acquire')).request.name);

    expect(new Set(await Promise.all(names)).size).toBe(2);
  });

  it('reports that a lock was gone before its release', async () => {
    const store = new ScriptedStore();
    const health = new HealthCheck(store).check(LONG);
    await store.answer('acquire', grant(7));
    await store.answer('release', false);

    expect((await health).trouble?.message).toContain('lost before its release');
  });

  it('reports the refusal of a store, and another user of its name', async () => {
    const store = new ScriptedStore();
    const check = new HealthCheck(store);
    const refused = check.check(LONG);
    const cause = new Error('NOAUTH');
    await store.fail('acquire', cause);
    expect((await refused).trouble).toMatchObject({
      message: 'Redis did not grant and release a lock: NOAUTH',
      cause,
    });

    const strange = check.check(LONG);
    await store.answer('acquire', taken(1));
    expect((await strange).trouble?.message).toContain('other-1-v1-000000000000:1');
  });

  it('ends in time without a reply, and releases a later grant', async () => {
    const store = new ScriptedStore();
    const health = await new HealthCheck(store).check(10);
    expect(health.trouble).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: `Redis did not grant and release a lock within 10 ms: ${store.trouble.message}`,
    });

    await store.answer('acquire', grant(7));

    expect((await store.next('release')).request.owner).toBe('me:7');
  });

  it('leaves no rejection unhandled when a request fails after its time', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const store = new ScriptedStore();
    await new HealthCheck(store).check(10);
    await store.fail('acquire', new Error('late'));
    await settle();
    process.off('unhandledRejection', unhandled);

    expect(unhandled).not.toHaveBeenCalled();
  });

  it('waits for the request under way rather than send another', async () => {
    const store = new ScriptedStore();
    const check = new HealthCheck(store);
    for (let i = 0; i < 3; i++) await check.check(10);
    expect(store.unseen('acquire')).toBe(1);

    const health = check.check(LONG);
    await store.answer('acquire', grant(7));
    await store.answer('release', true);

    expect((await health).trouble).toBeUndefined();
    expect(store.unseen('acquire')).toBe(0);
  });

  describe('of several nodes', () => {
    const nodes: readonly StoreNode[] = [
      { name: 'a:6379', trouble: undefined },
      { name: 'b:6379', trouble: 'connect ECONNREFUSED' },
    ];

    function storeOf(answer: () => Promise<readonly StoreNode[]>): LockStore {
      const store = new ScriptedStore();
      return Object.assign(store, {
        operations: { ...store.operations, nodes: answer },
        acquire: () => Promise.resolve(grant(7)),
        release: () => Promise.resolve(true),
      });
    }

    it('reports the answering nodes', async () => {
      const health = await new HealthCheck(storeOf(async () => nodes)).check(LONG);

      expect(health).toMatchObject({ trouble: undefined, nodes });
    });

    it.each([
      ['never tells', () => never],
      ['fails', () => Promise.reject(new Error('no'))],
    ])('ends in time when the store %s', async (_what, answer) => {
      const health = await new HealthCheck(storeOf(answer)).check(10);

      expect(health).toMatchObject({ trouble: undefined, nodes: undefined });
    });
  });
});
