import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, startChromium } from '../../sample/01-flash-sale/screenshot/chromium.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { beyondPhone, violations } from './support/page-checks.js';
import { type SampleRun, SampleRuns } from './support/sample-runs.js';

const STOCK = 20;
const BUYERS = 90;
/** Milliseconds until the sample kills an instance that does not end. */
const GRACE = 5_000;

/** The part of the browser's type that the functions below need, which run in the page. */
interface PageElement {
  readonly textContent: string;
}

const chromium = findChromium();
const [describePage, reason] = chromium
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no Chromium)'];

describePage(`the page of sample 01, the flash sale (row 11)${reason}`, () => {
  let runs: SampleRuns;
  let run: SampleRun;
  let urls: readonly string[];
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** What every page of this run asked for, and what it complained about. */
  const requested = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    runs = await SampleRuns.of('01-flash-sale');
    run = runs.start(['--json', '--stock', `${STOCK}`, '--buyers', `${BUYERS}`]);
    const printed = run.json<{ urls: string[] }>();
    browser = await startChromium(String(chromium));
    ({ urls } = await printed);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await runs[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    page = await open();
  });

  afterEach(() => context.close());

  async function open(url = urls[0]): Promise<Page> {
    const opened = await context.newPage();
    opened.on('request', (request) => requested.add(new URL(request.url()).origin));
    opened.on('pageerror', (error) => complaints.push(error.message));
    opened.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    await opened.goto(String(url));
    await opened.locator('#chart canvas').waitFor();
    return opened;
  }

  const button = () => page.getByRole('button', { name: `Let ${BUYERS} buyers in` });
  const lock = () => page.getByRole('switch', { name: 'Lock' });
  const oversold = (mode: string) => page.locator(`#outcome-${mode} .surplus strong`);

  /** Waits until a sale that began after `start` was called has ended. */
  async function sale(mode: string, start: () => Promise<void>): Promise<void> {
    const ended = page.locator(`#outcome-${mode} time`);
    const before = await ended.getAttribute('datetime');
    await start();
    await waitFor(async () => (await ended.getAttribute('datetime')) !== before, {
      timeout: 30_000,
      that: 'a sale to begin',
    });
    await button().waitFor();
  }

  async function colourOf(selector: string): Promise<string> {
    return page.locator(selector).evaluate((element) => {
      const { color } = element.ownerDocument.defaultView.getComputedStyle(element);
      return String(color);
    });
  }

  it('shows the stock below zero in red without the lock and at zero in green with it, side by side', async () => {
    await sale('unlocked', () => button().click());
    expect(await page.locator('.kicker').textContent()).toBe('Last sale, without the lock');
    expect(await page.locator('h1').textContent()).toMatch(/^\d+ sneakers sold that do not exist\.$/);
    expect(await page.locator('#stock').textContent()).toMatch(/^−\d+$/);
    expect(Number(await oversold('unlocked').textContent())).toBeGreaterThan(0);
    const red = await colourOf('#outcome-unlocked .surplus strong');
    expect(red).toBe(await colourOf('#stock'));

    await lock().click();
    expect(await page.locator('.kicker').textContent()).toBe('Last sale, without the lock');
    await sale('locked', () => button().click());
    expect(await page.locator('.kicker').textContent()).toBe('Last sale, with the lock');
    expect(await page.locator('h1').textContent()).toBe(`${STOCK} sneakers sold. Not one too many.`);
    expect(await page.locator('.setup').textContent()).toBe('90 buyers, 3 instances, 20 pairs');
    expect(await page.locator('#stock').textContent()).toBe('0');
    expect(await oversold('locked').textContent()).toBe('0');
    expect(await colourOf('#outcome-locked .surplus strong')).not.toBe(red);

    expect(Number(await oversold('unlocked').textContent())).toBeGreaterThan(0);
    expect(await page.locator('#chart').getAttribute('aria-label')).toMatch(
      /Without the lock: from 20 pieces to -\d+ within .* With the lock: from 20 pieces to 0 within/,
    );
  });

  it('draws the oversold part in red and the locked sale in green', async () => {
    const seen = await page.locator('#chart canvas').evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const colours = new Set<string>();
      for (let i = 0; i < data.length; i += 4) colours.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
      return [...colours];
    });
    const parts = (colour: string) => /\d+, \d+, \d+/.exec(colour)?.[0].replaceAll(' ', '');
    expect(seen).toContain(parts(await colourOf('#outcome-unlocked .surplus strong')));
    expect(seen).toContain(parts(await colourOf('#outcome-locked .surplus strong')));
  });

  it('shows the holder and the waiters of the lock in order, and the orders of each instance', async () => {
    await lock().click();
    const shown = page.waitForFunction(
      (html) => {
        const textOf = ({ textContent }: PageElement) => textContent;
        const waiting = Array.from(html.querySelectorAll('.queue li'), textOf);
        if (waiting.length < 2) return undefined;
        const names: string[] = Array.from(html.querySelectorAll('.cards h3'), textOf);
        const badges: string[] = Array.from(html.querySelectorAll('.cards .badge'), textOf);
        const holder: string = html.querySelector('.queue .holder').textContent;
        const highlighted: string = html.querySelector('[data-state=holder] h3').textContent;
        return {
          queue: [holder, ...waiting],
          highlighted,
          badges: names.map((name, i) => [name, badges[i]]),
        };
      },
      await page.locator('html').elementHandle(),
      { timeout: 60_000 },
    );
    const counts = async (): Promise<number[]> =>
      (await page.locator('.cards [data-mode=locked] dd').allTextContents()).map(Number);
    const seen: unknown[] = [];
    void shown.then(
      (places) => seen.push(places),
      () => {},
    );
    // On a busy machine, no picture may show both waiters, and an instance may come when all is sold.
    do await sale('locked', () => button().click());
    while (seen.length === 0 || (await counts()).includes(0));

    const { queue, highlighted, badges } = (await (await shown).jsonValue()) ?? {};
    expect(new Set(queue)).toEqual(new Set(['instance 1', 'instance 2', 'instance 3']));
    expect(highlighted).toBe(queue?.[0]);
    const states = ['holds the lock', 'next', '2nd in line'];
    expect(new Map(badges?.map(([name, badge]) => [badge, name]))).toEqual(
      new Map(states.map((state, i) => [state, queue?.[i]])),
    );

    await page.getByText('is free.').waitFor();
    expect(await counts()).toHaveLength(3);
    expect((await counts()).reduce((sum, count) => sum + count)).toBe(STOCK);
  });

  it('works with the keyboard alone, shows the focus, and announces events', async () => {
    const focused = () => page.locator(':focus-visible');
    const outline = () =>
      focused().evaluate(
        (element) => element.ownerDocument.defaultView.getComputedStyle(element).outlineStyle,
      );

    await page.locator('.stops a').last().focus();
    await page.keyboard.press('Tab');
    expect(await focused().getAttribute('role')).toBe('switch');
    expect(await outline()).toBe('solid');
    await page.keyboard.press('Space');
    expect(await lock().getAttribute('aria-checked')).toBe('true');

    await page.keyboard.press('Tab');
    expect(await focused().textContent()).toContain(`Let ${BUYERS} buyers in`);
    expect(await outline()).toBe('solid');
    await sale('locked', () => page.keyboard.press('Enter'));

    expect(await focused().textContent()).toContain(`Let ${BUYERS} buyers in`);
    expect(await page.getByRole('status').textContent()).toBe(
      `Sale with the lock ended: ${STOCK} of ${STOCK} pieces sold, 0 oversold.`,
    );
  });

  it('shows the same on every instance, and sends one rush at a time', async () => {
    const other = await open(urls[1]);
    expect(await other.locator('.served').textContent()).toBe('served by instance 2');

    const [first, second] = await Promise.all(urls.slice(0, 2).map((url) => postRush(url, 'unlocked')));
    expect(new Set([first, second])).toEqual(new Set([201, 423]));

    const outcomes = (at: Page) => at.locator('.outcomes').textContent();
    await waitFor(async () => (await outcomes(other)) === (await outcomes(page)), {
      that: 'both to show it',
    });
    expect(await postRush(urls[0], 'unheard-of')).toBe(400);
  });

  it('says why a rush could not be sent until the next one', async () => {
    await page.route('**/rushes', (route) => route.fulfill({ status: 423 }));
    await button().click();
    const alert = page.getByRole('alert').filter({ hasText: 'Another page has just started a run' });
    await alert.waitFor();
    await sale('locked', async () => expect(await postRush(urls[1], 'locked')).toBe(201));
    expect(await alert.isVisible()).toBe(true);

    await page.unroute('**/rushes');
    await sale('unlocked', () => button().click());
    expect(await page.getByRole('alert').textContent()).not.toContain('Another page');
    // The browser reports the refusal itself.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('423')]);
  });

  it('fits a phone 360 pixels wide', async () => {
    expect(await beyondPhone(page)).toEqual([]);
  });

  it('is dark and light, its chart too, without a violation that axe knows', async () => {
    const look = async () => ({
      background: await page
        .locator('body')
        .evaluate((body) => body.ownerDocument.defaultView.getComputedStyle(body).backgroundColor),
      text: await colourOf('h1'),
      chart: await page.locator('#chart canvas').evaluate((canvas) => String(canvas.toDataURL())),
    });
    const light = await look();
    expect(await violations(page)).toEqual([]);

    await page.emulateMedia({ colorScheme: 'dark' });
    await waitFor(async () => (await look()).chart !== light.chart, { that: 'the chart to be drawn anew' });
    const dark = await look();
    expect(dark.background).not.toBe(light.background);
    expect(dark.text).not.toBe(light.text);
    expect(await violations(page)).toEqual([]);
  }, 60_000);

  it('moves nothing for readers who prefer reduced motion', async () => {
    const duration = () =>
      page
        .locator('.track')
        .evaluate((track) => track.ownerDocument.defaultView.getComputedStyle(track).transitionDuration);
    expect(await duration()).not.toBe('0s');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await duration()).toBe('0s');
  });

  it('takes everything from its own instance, with a policy that allows nothing else', async () => {
    const response = await page.reload();
    expect(response?.headers()['content-security-policy']).toContain("default-src 'self'");
    expect([...requested].filter((origin) => !urls.includes(origin))).toEqual([]);
    expect(complaints).toEqual([]);

    const refused = await page.locator('body').evaluate(
      (body, elsewhere) =>
        new Promise<{ blockedURI: string }>((resolve) => {
          const image = body.ownerDocument.createElement('img');
          body.ownerDocument.addEventListener('securitypolicyviolation', resolve, { once: true });
          image.src = elsewhere;
          body.append(image);
        }).then(({ blockedURI }) => blockedURI),
      `${urls[1]}/icon.svg`,
    );
    expect(refused).toBe(`${urls[1]}/icon.svg`);
  });

  it('ends on Ctrl-C while a page is open', async () => {
    const took = await unstalled(async () => expect(await run.end('SIGINT')).toEqual([0, null]));
    expect(took).toBeLessThan(GRACE);
    await page.getByText('The connection to this instance is lost').waitFor();
  });
});

async function postRush(url: string | undefined, mode: string): Promise<number> {
  const response = await fetch(`${url}/rushes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode }),
  });
  await response.text();
  return response.status;
}
