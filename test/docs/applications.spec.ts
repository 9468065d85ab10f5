import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { io } from 'socket.io-client';
import { duringTests } from '../support/during-tests.js';
import { packed } from '../support/packed-package.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { documents } from './documents.js';
import { withApplication, withInstances } from './quick-start.js';
import { placesApplication } from './places-application.js';
import { queueApplication } from './queue-application.js';

const blocks = documents.flatMap(({ file, document }) =>
  document.blocks.map((block) => ({ file, ...block })),
);

// A small application takes half a minute to start where the machine does ten other things.
jest.setTimeout(120_000);

describe('the quick start', () => {
  const runnable = blocks.filter(({ marks }) => marks.includes('runnable'));
  const source = runnable[0]?.text ?? '';
  const withoutComments = (text: string): string => text.replaceAll(/ *\/\/.*$/gm, '');
  const redis = duringTests(() => RedisServer.start());

  async function order(url: string, sku: string): Promise<number> {
    const { status } = await fetch(`${url}/orders/${sku}`, { method: 'POST' });
    return status;
  }

  /** Payments last until the test says so, and are counted, instead of five seconds. */
  const untilPaid = `await redis.incr('payments'); while (!(await redis.exists('paid'))) await delay(20);`;

  /** One order to each of two processes, and what `query` prints once so many are paid, and so many wait for the lock. */
  function orderTwice(
    application: string,
    { paying, waiting }: { readonly paying: number; readonly waiting: number },
  ): Promise<{ statuses: number[]; query: string }> {
    const payment = 'await delay(5_000);';
    expect(application).toContain(payment);
    const client = redis.client();
    return withInstances(2, application.replace(payment, untilPaid), redis.url, async (urls) => {
      await client.del('payments', 'paid');
      // The first request finds no connection yet, and on a busy machine it is late: what nobody sells is sold out then.
      const ready = async (): Promise<boolean> =>
        (await Promise.all(urls.map((url) => order(url, 'nothing')))).every((status) => status === 409);
      await waitFor(ready, { timeout: 20_000, that: 'the application to reach Redis' });
      const orders = Promise.all(urls.map((url) => order(url, 'book')));
      const arrived = async (): Promise<boolean> =>
        Number(await client.get('payments')) === paying &&
        (await client.zcard('lock:{stock:book}:q')) === waiting;
      await waitFor(arrived, { timeout: 20_000, that: 'both orders' });
      // Exit code 4: nobody holds it.
      const query = await promisify(execFile)(process.execPath, [packed.program, 'query', 'stock:book'], {
        env: { ...process.env, REDIS_URL: redis.url },
      }).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
      await client.set('paid', 1);
      const statuses = (await orders).toSorted((a, b) => a - b);
      return { statuses, query };
    });
  }

  it('is the same wherever it stands, but for its comments', () => {
    const pages = ['docs/quick-start.md', 'docs/zh-CN/quick-start.md'];
    expect(runnable.map(({ file }) => file)).toEqual(['README.md', 'README.zh-CN.md', ...pages]);
    expect(new Set(runnable.map(({ text }) => withoutComments(text))).size).toBe(1);
  });

  it.each(['docs/index.md', 'docs/zh-CN/index.md'])('is the method that %s shows', (file) => {
    const [shown] = blocks.filter((block) => block.file === file && block.marks.includes('members'));
    const lines = withoutComments(shown?.text ?? 'no method').split('\n');
    const indented = lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
    expect(withoutComments(source)).toContain(indented);
  });

  it('sells the only book once, of two orders to two processes at the same time', async () => {
    const { statuses, query } = await orderTwice(source, { paying: 1, waiting: 1 });
    expect(statuses).toEqual([201, 409]);
    expect(query).toMatch(/holds.*OrdersController\.place[^]*waits/);
  });

  it('sells the only book twice without the decorator', async () => {
    const { statuses, query } = await orderTwice(source.replace(/^ *@Locked.*$/m, ''), {
      paying: 2,
      waiting: 0,
    });
    expect(statuses).toEqual([201, 201]);
    expect(query).toContain('stock:book is free');
  });
});

describe('the queue processor', () => {
  const sources = blocks.map(({ text }) => text).filter((text) => text.includes("@Processor('invoices'"));
  const [source = ''] = sources;

  it('is the same wherever it stands, but for its comments', () => {
    expect(sources.length).toBeGreaterThan(0);
    expect(new Set(sources.map((text) => text.replaceAll(/^\/\/.*\n/gm, ''))).size).toBe(1);
  });

  it('runs every job of one customer, although few attempts remain and the lock is mostly taken', async () => {
    await using redis = await RedisServer.start({ config: { 'maxmemory-policy': 'noeviction' } });
    // With work that takes a while, so that most jobs find the lock taken, and a shorter wait for it.
    const hurried = source
      .replace('1_000', '50')
      .replace("await job.log('the work');", 'await new Promise((resolve) => setTimeout(resolve, 30));');
    const counts = await withApplication(queueApplication(hurried), redis.url, (url) =>
      waitFor(
        async () => {
          const { completed, failed } = (await (await fetch(url)).json()) as Record<string, number>;
          return (completed ?? 0) + (failed ?? 0) === 8 && { completed, failed };
        },
        { timeout: 20_000, that: 'the jobs to end' },
      ),
    );

    expect(counts).toEqual({ completed: 8, failed: 0 });
  });
});

describe('the examples of every place', () => {
  const places = blocks.filter(
    ({ file, language, text }) =>
      language === 'ts' &&
      (file === 'docs/guide/places.md' ||
        (file === 'docs/recipes/bullmq-per-customer.md' && text.includes('@Processor'))),
  );
  const methods = places.flatMap(({ text }) =>
    [...text.matchAll(/@Locked\(.*\n\s*(?:override |async )*(\w+)\(/g)].map(([, name = '']) => name),
  );

  it('start together, and every locked method runs under its lock', async () => {
    await using redis = await RedisServer.start({ config: { 'maxmemory-policy': 'noeviction' } });
    await withApplication(placesApplication(places), redis.url, async (url) => {
      const post = async (path: string, body: object = {}): Promise<unknown> => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
        return response.json();
      };
      const query = (text: string): Promise<unknown> => post('/graphql', { query: text });

      expect(await post('/call')).toEqual(['book', 'book', 'a file']);
      expect(await post('/orders/7/pay')).toEqual({});
      expect(await query('mutation { reserve(sku: "book") }')).toEqual({ data: { reserve: true } });
      expect(await query('{ product(sku: "book") { pieces } }')).toEqual({
        data: { product: { pieces: 4 } },
      });
      const client = io(url, { reconnection: false });
      try {
        const accepted = new Promise((resolve, reject) => {
          client.once('accepted', resolve).once('connect_error', reject);
        });
        client.emit('bid', { auction: 'a', amount: 5 });
        expect(await accepted).toBe(5);
      } finally {
        client.close();
      }

      expect(new Set(methods).size).toBe(8);
      await waitFor(
        async () => {
          const locked = (await (await fetch(`${url}/locked`)).json()) as string[];
          return methods.every((name) => locked.includes(name));
        },
        { timeout: 20_000, that: `${methods.join(', ')} to have had their locks` },
      );
    });
  });
});
