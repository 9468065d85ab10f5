import type { ClusterConnection } from '../../../lib/store/redis/cluster/cluster-connection.js';
import { ClusterInbox } from '../../../lib/store/redis/cluster/cluster-inbox.js';
import type { ClientEvents, RedisClient } from '../../../lib/store/redis/connection/redis-client.js';
import { KeySpace } from '../../../lib/store/redis/key-space.js';
import type { Trial } from '../../../lib/store/redis/trial/trial.js';
import { NO_EVENTS } from '../../support/no-events.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

describe('An inbox in a Cluster', () => {
  const build = () => {
    const errors: ClientEvents['error'][] = [];
    const warnings: string[] = [];
    const listener = () => ({
      on: (event: keyof ClientEvents, call: ClientEvents['error']) => event === 'error' && errors.push(call),
      subscribe: () => new Promise<void>(() => undefined),
      close: () => undefined,
    });
    const clients = {
      ownerOf: () => 'node:1',
      listener: listener as unknown as () => RedisClient,
      refresh: () => undefined,
    };
    const connection = { clients, onRefresh: () => undefined } as unknown as ClusterConnection;
    const trial = { receivers: 'untried', end: () => undefined } as unknown as Trial;
    const settings = {
      clock: new ManualClock(),
      commandTimeout: 1_000,
      instance: 'me',
      log: { ...QUIET, warn: (message: string) => warnings.push(message) },
    };
    const keySpace = new KeySpace('cluster', 'lock:');
    const trials = { receivers: 'untried' as const, trialAt: () => trial };
    const inbox = new ClusterInbox(connection, keySpace, settings, trials, NO_EVENTS);
    return { errors, inbox, warnings };
  };

  it('warns once that a node rejects the connection for messages', async () => {
    const { errors, inbox, warnings } = build();
    inbox.listen('n');
    errors[0]?.(new Error('NOAUTH Authentication required.'));
    await settle();

    expect(warnings).toEqual([expect.stringMatching(/SSUBSCRIBE lock:\{n\}:inbox:me failed: NOAUTH/u)]);
    inbox.close();
  });

  it('does not warn of a node that is down', async () => {
    const { errors, inbox, warnings } = build();
    inbox.listen('n');
    errors[0]?.(new Error('connect ECONNREFUSED'));
    await settle();

    expect([errors.length, warnings]).toEqual([1, []]);
    inbox.close();
  });
});
