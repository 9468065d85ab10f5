import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { tableOf } from '../docs/documents.js';
import { Instance } from './instance.js';

/** The form of an instance in all keys, values and channels, with the format version. */
const INSTANCE = '[A-Za-z0-9.-]+-\\d+-v1-[0-9a-f]{12}';
const OWNER = new RegExp(`^(${INSTANCE}(~\\w+)?:\\d+|shared|several)$`);
const PLACE = new RegExp(`^${INSTANCE}\\|\\d+\\|\\d+(\\|s\\d+(of\\d+)?)?$`);
const CHANNEL = new RegExp(`^lock:inbox:${INSTANCE}$`);

describe('what the module writes to Redis', () => {
  const server = duringTests(() => RedisServer.start());
  const messages: string[] = [];

  beforeAll(async () => {
    const listener = server.client();
    listener.on('pmessage', (_pattern, channel: string, message: string) =>
      messages.push(`${channel} ${message}`),
    );
    await listener.psubscribe('lock:inbox:*');
  });

  it('has the keys and forms that the page on keys lists, with the format version', async () => {
    await using one = await new Instance({ connection: server.url, wait: 30_000 }).warmUp();
    await using two = await new Instance({ connection: server.url, wait: 30_000 }).warmUp();
    const permit = { mode: 'shared', limit: 2 } as const;
    const [exclusive, reader, permits, moved] = await Promise.all([
      one.locks.acquire('exclusive'),
      one.locks.acquire('read', { mode: 'shared' }),
      one.locks.acquire('permits', { ...permit, permits: 2 }),
      one.locks.acquire('moved'),
    ]);
    const transfer = await moved.detach();
    const waiting = [
      two.locks.acquire('exclusive'),
      two.locks.acquire('read'),
      two.locks.acquire('permits', permit),
    ];
    await waitFor(async () => (await server.client().keys('lock:*:q')).length === 3, {
      that: 'three queues',
    });

    const client = server.client();
    const keys = await client.keys('*');
    const strings = keys.filter((key) => /^lock:\{\w+\}$/.test(key));
    const owners = await Promise.all(strings.map(async (key) => client.get(key)));
    const members = async (suffix: string): Promise<string[]> =>
      (
        await Promise.all(
          keys.filter((key) => key.endsWith(suffix)).map(async (key) => client.zrange(key, 0, '-1')),
        )
      ).flat();
    const [holders, places] = [await members(':s'), await members(':q')];

    expect(new Set(keys.map(shapeOf))).toEqual(
      new Set(['lock:{<name>}', 'lock:{<name>}:s', 'lock:{<name>}:q', 'lock:fence']),
    );
    expect(tableOf('key').map(({ key }) => key?.replaceAll('`', ''))).toEqual(
      expect.arrayContaining(keys.map(shapeOf)),
    );
    expect([...owners, ...holders].filter((owner) => !OWNER.test(owner ?? ''))).toEqual([]);
    expect(places.filter((place) => !PLACE.test(place))).toEqual([]);
    expect([strings.length, holders.length, places.length]).toEqual([4, 3, 3]);

    await two.locks.query('exclusive');
    await two.locks.forceRelease('moved');
    await expect(two.locks.attach(transfer)).rejects.toMatchObject({ code: 'LOCK_LOST' });
    await Promise.all([exclusive, reader, permits].map((lock) => lock.release()));
    for (const lock of await Promise.all(waiting)) await lock.release();
    await waitFor(() => kindsOf(messages).size >= 5, { that: 'messages of five kinds' });

    const listed = tableOf('form').flatMap(({ text = '' }) =>
      Array.from(text.matchAll(/`([a-z]+) /g), ([, kind]) => kind),
    );
    expect(listed).toEqual(expect.arrayContaining([...kindsOf(messages)]));
    expect(
      messages.map((message) => message.split(' ')[0]).filter((each) => !CHANNEL.test(each ?? '')),
    ).toEqual([]);
  });
});

function shapeOf(key: string): string {
  return key.replace(/\{.*\}/, '{<name>}');
}

/** The first word of each message, without those of the server's trial. */
function kindsOf(messages: readonly string[]): Set<string> {
  return new Set(messages.map((message) => message.split(' ')[1] ?? '').filter((kind) => kind !== 'tried'));
}
