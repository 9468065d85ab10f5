import type { Browser, BrowserContext, Page } from 'playwright-core';
import { LockService, RedisLockModule } from '../../lib/index.js';
import { LockInspectorModule } from '../../lib/inspector/index.js';
import { findChromium, startChromium } from '../../sample/01-flash-sale/screenshot/chromium.js';
import { HttpApplication, platforms } from '../e2e/support/http-application.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';
import { violations } from './support/page-checks.js';

/** Longest time for which the page may not answer, in milliseconds; the machine may be busy. */
const RESPONSIVE = 500;

const HOSTILE = [
  '<img src=x onerror="window.hacked=1">',
  '</script><script>window.hacked=2</script>',
  '"><svg/onload=window.hacked=3>',
  'javascript:window.hacked=4',
  '\u202Egnp.exe',
  '..',
  'events',
  'a/b%2Fc?d#e',
  '{{constructor.constructor("window.hacked=5")()}}',
];

const chromium = findChromium();
const [describePage, reason] = chromium
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no Chromium)'];

/** The part of the browser's type that the functions below need, which run in the page. */
interface PageElement {
  readonly outerHTML: string;
  getBoundingClientRect(): { readonly right: number };
  closest(selector: string): unknown;
}

describePage(`the page of the inspector${reason}`, () => {
  const server = duringTests(() => RedisServer.start());
  let app: HttpApplication;
  let locks: LockService;
  let url: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const requested = new Set<string>();

  beforeAll(async () => {
    const [, platform] = platforms[0] ?? [];
    if (!platform) throw new Error('There is no platform');
    app = await HttpApplication.start(
      platform(),
      {
        imports: [
          RedisLockModule.forRoot({ connection: server.url }),
          LockInspectorModule.forRoot({ public: true, actions: true }),
        ],
      },
      { configure: (nest) => nest.setGlobalPrefix('ops') },
    );
    locks = app.nest.get(LockService);
    url = `${await app.nest.getUrl()}/ops/locks`;
    browser = await startChromium(String(chromium));
  });

  afterAll(async () => {
    await browser?.close();
    await app.stop();
  });

  beforeEach(async () => {
    complaints.length = 0;
    context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    page = await context.newPage();
    page.on('request', (request) => requested.add(new URL(request.url()).origin));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
  });

  afterEach(async () => {
    await context.close();
    await server.client().flushall();
  });

  async function open(): Promise<void> {
    await page.goto(url);
    await waitFor(async () => /^\d/.test((await page.locator('#held').textContent()) ?? ''), {
      that: 'the page to show what is held',
    });
  }

  const nameButton = (name: string, table = '#names') =>
    page.locator(`${table} button.name`).filter({ hasText: name }).first();

  it('shows holders with labels, waiters, and lost holds', async () => {
    const held = await locks.acquire('order:42', { label: 'Orders.place' });
    await server.client().set('lock:{import}', 'otherhost-7-abc:1', 'PX', 60_000);
    await server.client().zadd('lock:{import}:q', 1, 'otherhost-8-def');
    await server.client().zadd('lock:{import}:q', 2, 'otherhost-9-fed');
    const lost = await locks.acquire('payout:7');
    await open();

    const rows = await page.locator('#names tbody tr').allTextContents();
    expect(rows).toHaveLength(3);
    expect(rows[2]).toMatch(/^import2otherhost-7-abc[\d.]+ sexclusive$/);
    expect(await page.locator('#waiting').textContent()).toBe('2');
    expect(await nameButton('import', '#hot').isVisible()).toBe(true);
    expect(await page.locator('#own').textContent()).toBe('2');
    expect(await page.locator('#holds tbody tr').first().textContent()).toMatch(
      /^order:42[\d.]+ m?s0Orders\.place$/,
    );
    expect(await page.locator('#instances').textContent()).toContain('(this one)');

    await locks.forceRelease('payout:7');
    await waitFor(() => lost.signal.aborted);
    await waitFor(async () => (await page.locator('#lost').textContent())?.includes('payout:7'));
    await locks.using('quick', async () => {});
    await nameButton('quick', '#waits').waitFor();
    await held.release();
    await waitFor(async () => (await page.locator('#names tbody tr').count()) === 1);
  });

  it('shows in the details of a name until when a result is kept, and not the result', async () => {
    await locks.once('report', { keep: '1h' }, () => 'secret');
    const { done } = await locks.query('report');
    await using _ = await locks.acquire('report');
    await open();
    await nameButton('report').click();
    const state = page.locator('#detail-state');
    await waitFor(async () => (await state.textContent()) !== '');

    const shown = await page.evaluate((date) => new Date(date).toLocaleString(), Number(done?.until));
    expect(await state.textContent()).toMatch(/^A result is kept from .* until /);
    expect(await state.textContent()).toContain(` until ${shown}.`);
    expect(await page.content()).not.toContain('secret');
  });

  it('sorts the held names by age, name and waiters, and keeps the focus', async () => {
    const minutesAgo = (minutes: number): string =>
      `otherhost-7-abc:${(Date.now() - minutes * 60_000) * 1_000}`;
    const client = server.client();
    await client.set('lock:{b}', minutesAgo(3), 'PX', 60_000);
    await client.set('lock:{c}', minutesAgo(90), 'PX', 60_000);
    await client.set('lock:{d}', 'a foreign owner', 'PX', 60_000);
    await client.zadd('lock:{b}:q', 1, 'otherhost-8-def');
    await using _ = await locks.acquire('a', { label: 'Orders.place' });
    await open();
    const column = (index: number) => page.locator(`#names td:nth-child(${index})`).allTextContents();
    const sortBy = (name: string) =>
      page.locator('#names').getByRole('button', { name, exact: true }).click();

    expect(await page.locator('#part').textContent()).toBe('4 names.');
    expect(await column(1)).toEqual(['c', 'b', 'a', 'd']);
    await sortBy('age');
    expect(await column(1)).toEqual(['d', 'a', 'b', 'c']);
    await sortBy('age');
    expect(await column(1)).toEqual(['c', 'b', 'a', 'd']);
    expect(await column(2)).toEqual(['90 min', '3 min', expect.stringMatching(/ m?s$/), '']);
    expect(await page.locator('#names [aria-sort]').getAttribute('aria-sort')).toBe('descending');
    expect(await page.locator(':focus').textContent()).toBe('age');
    await sortBy('name');
    expect(await column(1)).toEqual(['a', 'b', 'c', 'd']);
    await sortBy('name');
    expect(await column(1)).toEqual(['d', 'c', 'b', 'a']);
    await sortBy('waiting');
    expect(await column(1)).toEqual(['b', 'a', 'c', 'd']);
  });

  it('shows the label of the hottest name, although its holds are short', async () => {
    await open();
    // The page may show its first listing before its event stream is open, and then misses earlier grants.
    await waitFor(
      async () => {
        await locks.using('order:hot', { label: 'Orders.place' }, async () => {});
        const row = await page.locator('#hot tbody tr').first().textContent();
        return /^order:hot0\d+Orders\.place$/.test(row ?? '');
      },
      { that: 'the page to count a grant' },
    );
    await server.client().set('lock:{order:hot}', 'otherhost-7-abc:1', 'PX', 60_000);
    await waitFor(async () =>
      (await page.locator('#names').textContent())?.includes('Orders.place (last known)'),
    );
  });

  it('shows hostile names and labels as text, and finds each of them', async () => {
    const holds = await Promise.all(HOSTILE.map((name) => locks.acquire(name, { label: name })));
    await server.client().set('lock:{owner}', '<img src=x onerror="window.hacked=6">', 'PX', 60_000);
    await open();
    const labels = await page.locator('#holds td:nth-child(4)').allTextContents();
    expect(new Set(labels)).toEqual(new Set(HOSTILE));
    const shown = await page.locator('#names button.name').allTextContents();
    expect(new Set(shown)).toEqual(new Set([...HOSTILE, 'owner']));
    for (const name of HOSTILE) {
      await page.locator('#names button.name').nth(shown.indexOf(name)).click();
      await page.locator('#holders tbody tr td.number').first().waitFor();
      expect(await page.locator('#detail-title').textContent()).toBe(name);
      await page.locator('#close').click();
    }
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img, svg, script').count()).toBe(1);
    expect(complaints).toEqual([]);
    await Promise.all(holds.map((hold) => hold.release()));
  });

  it('releases forcibly only after a confirmation', async () => {
    const held = await locks.acquire('order:42');
    await open();
    await nameButton('order:42').click();
    const force = page.getByRole('button', { name: 'Release forcibly' });
    await force.waitFor();
    expect(await force.isDisabled()).toBe(true);
    await page.getByRole('checkbox').check();
    await force.click();
    await page.getByText('Released.').waitFor();
    await waitFor(() => held.signal.aborted);
    expect(complaints).toEqual([]);
  });

  it('works with the keyboard alone, and keeps the focus while it redraws', async () => {
    await using _ = await locks.acquire(['a', 'b']);
    await open();
    const focused = () => page.locator(':focus').evaluate((element) => element.outerHTML as string);
    await page.keyboard.press('Tab');
    expect(await focused()).toContain('id="pause"');
    for (let i = 0; i < 6; i++) await page.keyboard.press('Tab');
    expect(await focused()).toContain('data-name="a"');
    await server.client().set('lock:{c}', 'elsewhere', 'PX', 60_000);
    await nameButton('c').waitFor();
    expect(await focused()).toContain('data-name="a"');
    await page.keyboard.press('Enter');
    expect(await page.locator('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog').isVisible()).toBe(false);
  });

  it.each(['light', 'dark'] as const)('has no violation that axe knows, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await using _ = await locks.acquire('order:42', { label: 'Orders.place' });
    await locks.acquire('lost');
    await locks.forceRelease('lost');
    await open();
    await nameButton('lost', '#lost').waitFor();
    expect(await violations(page)).toEqual([]);
    await nameButton('order:42').click();
    await page.getByRole('button', { name: 'Release forcibly' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('fits a phone 360 pixels wide', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    const held = await locks.acquire(['order:42', 'x'.repeat(500)], {
      label: 'OrdersController.placeOrders',
    });
    await open();
    const beyond = await page.locator('html').evaluate((html) =>
      Array.from(html.querySelectorAll('body *'), (element: PageElement) => element)
        .filter((element) => !element.closest('.scroll') && element.getBoundingClientRect().right > 360)
        .map(({ outerHTML }) => outerHTML.slice(0, 100)),
    );
    expect(beyond).toEqual([]);
    const ends = await page
      .locator('#names th:nth-child(-n+3)')
      .evaluateAll((heads: PageElement[]) => heads.map((head) => head.getBoundingClientRect().right));
    expect(Math.max(...ends)).toBeLessThan(360);
    expect(await page.locator('html').evaluate((html) => html.scrollWidth)).toBe(360);
    await held.release();
  });

  it.each([360, 1280])('shows the hanging hold without scrolling, %i pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 720 });
    const hanging = `otherhost-7-v1-0123456789ab:${(Date.now() - 3_600_000) * 1_000}`;
    await server.client().set('lock:{payout:7}', hanging, 'PX', 60_000);
    await using _ = await locks.acquire(Array.from(Array(50).keys(), (i) => `order:${i}`));
    await open();
    const first = page.locator('#names tbody tr').first();
    expect(await first.textContent()).toMatch(/^payout:760 min/);
    for (const cell of [0, 1]) {
      const box = await first.locator('td').nth(cell).boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(720);
      expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    }
  });

  it.each([360, 1280])('breaks no word, %i pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 780 });
    const label = 'OrderFulfilmentService.reserveInventoryForCheckout';
    const held = await locks.acquire(['checkout-reservation:1234567890', 'order:42'], { label });
    const lost = await locks.acquire('inventory-synchronisation:77', { label });
    await open();
    await locks.forceRelease('inventory-synchronisation:77');
    await nameButton('inventory-synchronisation', '#lost').waitFor();
    const broken = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('td, th, dt, h2')].flatMap((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), broken = [];
      for (let text = texts.nextNode(); text; text = texts.nextNode())
        for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\d]+/gu)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
        }
      return broken;
    })`);
    expect(broken).toEqual([]);
    await Promise.all([held.release(), lost.release()]);
  });

  it('stays responsive with 10,000 held names, shows a part and says so', async () => {
    const client = server.client();
    const names = Array.from({ length: 10_000 }, (_, index) => `order:${String(index).padStart(5, '0')}`);
    await client.mset(Object.fromEntries(names.map((name) => [`lock:{${name}}`, 'otherhost-7-abc:1'])));
    await open();
    expect(await page.locator('#held').textContent()).toBe('1,000+');
    expect(await page.locator('#part').textContent()).toBe(
      'Showing 200 of the first 1,000 names; there are more. Narrow them down by prefix.',
    );
    expect(await page.locator('#names tbody tr').count()).toBe(200);

    await steadily(100, async () => {
      const slowest = await page.evaluate<number>(`new Promise((resolve) => {
        let last = performance.now(), slowest = 0;
        const until = last + 5000;
        const look = (now) => {
          slowest = Math.max(slowest, now - last);
          last = now;
          if (now > until) resolve(slowest);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      })`);
      expect(slowest).toBeLessThan(RESPONSIVE);
    });

    await page.getByRole('searchbox').fill('order:0999');
    await waitFor(async () => (await page.locator('#names tbody tr').count()) === 10);
    expect(await page.locator('#part').textContent()).toBe('10 names.');
  });

  it('does not change while it is paused', async () => {
    await open();
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await page.getByRole('button', { name: 'Pause' }).getAttribute('aria-pressed')).toBe('true');
    await using _ = await locks.acquire('order:42');
    await page.getByRole('button', { name: 'Pause' }).click();
    await nameButton('order:42').waitFor();
  });

  it('reports that Redis is unreachable, and continues when it is back', async () => {
    await using _ = await locks.acquire('order:42');
    await open();
    await server.client().call('ACL', 'SETUSER', 'default', '-scan');
    try {
      await page.getByRole('alert').filter({ hasText: 'could not be listed' }).waitFor();
      expect(await nameButton('order:42', '#holds').isVisible()).toBe(true);
    } finally {
      await server.client().call('ACL', 'SETUSER', 'default', '+scan');
    }
    await nameButton('order:42', '#names').waitFor();
  });

  it('takes everything from its own application, with a policy that allows nothing else', async () => {
    await open();
    expect([...requested]).toEqual([new URL(url).origin]);
    const refused = await page.locator('body').evaluate((body) =>
      new Promise<{ blockedURI: string }>((resolve) => {
        const script = body.ownerDocument.createElement('script');
        script.textContent = 'window.hacked = 7';
        body.ownerDocument.addEventListener('securitypolicyviolation', resolve, { once: true });
        body.append(script);
      }).then(({ blockedURI }) => blockedURI),
    );
    expect(refused).toBe('inline');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });
});
