import { EndpointInbox } from '../../../lib/store/redis/endpoint-inbox.js';
import type { StoreEvents } from '../../../lib/store/lock-store.js';
import type { ClientEvents, RedisClient } from '../../../lib/store/redis/connection/redis-client.js';
import { KeySpace } from '../../../lib/store/redis/key-space.js';
import type { Trial } from '../../../lib/store/redis/trial/trial.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

/** Where the instance `me` receives messages about the name `n`. */
const CHANNEL = 'channel:{n}:inbox:me';
/** Longer than a subscription stays without waiters. */
const LONG = 5_000;
const REFUSED = new Error('NOPERM');

interface Request {
  resolve(): void;
  reject(): void;
}

describe('An inbox with a channel for each name', () => {
  const build = () => {
    const clock = new ManualClock();
    const listeners: Partial<ClientEvents> = {};
    const requests: Request[] = [];
    const unsubscribed: string[] = [];
    const subscribed: (string | undefined)[] = [];
    const warnings: string[] = [];
    const client = {
      state: 'ready',
      on: (event: keyof ClientEvents, call: () => void) => Object.assign(listeners, { [event]: call }),
      subscribe: () =>
        new Promise<void>(
          (resolve, reject) => void requests.push({ resolve, reject: () => reject(REFUSED) }),
        ),
      unsubscribe: (channel: string) => unsubscribed.push(channel),
    } as unknown as RedisClient;
    const log = { ...QUIET, warn: (message: string) => warnings.push(message) };
    const used = new Set<string>();
    const events = { isInUse: (name: string) => used.has(name) } as unknown as StoreEvents;
    const trial = { receivers: 'counted', hear: () => undefined } as unknown as Trial;
    const settings = { clock, commandTimeout: 1_000, instance: 'me', log };
    const keySpace = new KeySpace('per-name', 'channel:');
    const inbox = new EndpointInbox(client, keySpace, settings, events, trial, (name) =>
      subscribed.push(name),
    );
    return { clock, inbox, listeners, requests, subscribed, unsubscribed, used, warnings };
  };

  it('listens for a name until it is no longer in use', async () => {
    const { clock, inbox, requests, unsubscribed, used } = build();
    used.add('n');
    inbox.listen('n');
    requests[0]?.resolve();
    await clock.advance(LONG);

    expect([unsubscribed, inbox.canReceive('n')]).toEqual([[], true]);

    used.delete('n');
    await clock.advance(LONG);

    expect([unsubscribed, inbox.canReceive('n')]).toEqual([[CHANNEL], false]);
  });

  it('keeps the subscription of a name that has waiters again and again', async () => {
    const { clock, inbox, requests, unsubscribed } = build();
    for (let passed = 0; passed < 2 * LONG; passed += 1_000) {
      inbox.listen('n');
      await clock.advance(1_000);
    }

    expect([requests.length, unsubscribed]).toEqual([1, []]);
  });

  it('keeps a subscription of its own', async () => {
    const { clock, inbox, unsubscribed } = build();
    inbox.keep(CHANNEL, 'n');
    await clock.advance(LONG);

    expect(unsubscribed).toEqual([]);
  });

  it('ends a subscription whose name has no waiters, although the server has not confirmed it', async () => {
    const { clock, inbox, requests, subscribed, unsubscribed } = build();
    inbox.listen('n');
    await clock.advance(LONG);
    requests[0]?.resolve();
    await settle();

    expect([unsubscribed, subscribed, inbox.canReceive('n')]).toEqual([[CHANNEL], [], false]);
  });

  it('warns once that the server rejects a subscription, and once more after it has accepted one', async () => {
    const { clock, inbox, requests, warnings } = build();
    inbox.keep(CHANNEL, 'n');
    for (const outcome of ['reject', 'reject', 'resolve'] as const) {
      requests.at(-1)?.[outcome]();
      await clock.advance(LONG);
    }
    expect(warnings).toEqual([
      `Locks cannot be handed over directly, so waiters ask at intervals: SSUBSCRIBE ${CHANNEL} failed: NOPERM`,
    ]);
    inbox.listen('other');
    requests.at(-1)?.reject();
    await settle();

    expect(warnings).toHaveLength(2);
  });

  it('does not listen by a reply of a lost connection', async () => {
    const { inbox, listeners, requests, subscribed } = build();
    inbox.listen('n');
    listeners.lost?.();
    requests[0]?.resolve();
    await settle();

    expect([subscribed, inbox.canReceive('n')]).toEqual([[], false]);
  });

  it.each(['resolve', 'reject'] as const)(
    'ignores that a request of a lost connection %ss after it listens on a new one',
    async (outcome) => {
      const { clock, inbox, listeners, requests, subscribed, used, warnings } = build();
      used.add('n');
      inbox.listen('n');
      listeners.ready?.();
      requests[1]?.resolve();
      await settle();
      requests[0]?.[outcome]();
      await clock.advance(LONG);

      expect({ subscribed, warnings, requests: requests.length }).toEqual({
        subscribed: ['n'],
        warnings: [],
        requests: 2,
      });
      expect(inbox.canReceive('n')).toBe(true);
    },
  );
});
