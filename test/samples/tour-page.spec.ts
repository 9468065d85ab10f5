import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, startChromium } from '../../sample/01-flash-sale/screenshot/chromium.js';
import { SOURCES } from '../../sample/01-flash-sale/tour/excerpts.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Stalls } from '../support/stalls.js';
import { waitFor } from '../support/wait-for.js';
import { beyondPhone, violations } from './support/page-checks.js';
import { SampleRuns } from './support/sample-runs.js';

const chromium = findChromium();
const [describePage, reason] = chromium
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no Chromium)'];

/** Milliseconds for a run on a loaded machine: its processes start, and a lease of three seconds expires. */
const RUN = { timeout: 40_000 };
const LEASE = 3_000;
const NOISE = 500;
const STOPS = [
  { name: 'sale', path: '/', title: 'Flash sale' },
  { name: 'fencing', path: '/fencing/', title: 'Fencing token' },
  { name: 'takeover', path: '/takeover/', title: 'Killed holder' },
] as const;

describePage(`the tour of npm start${reason}`, () => {
  const redis = duringTests(() => RedisServer.start());
  const runs = duringTests(() => SampleRuns.of('01-flash-sale'));
  const closing = endingAfterEachTest();
  let url: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    const run = runs.start(['--json', '--stock', '5', '--buyers', '9'], { REDIS_URL: redis.url });
    const printed = run.json<{ urls: string[] }>();
    browser = await startChromium(String(chromium));
    [url = ''] = (await printed).urls;
  }, 120_000);

  afterAll(() => browser?.close());

  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  });

  afterEach(() => context.close());

  const open = async (path: string): Promise<void> => {
    await page.goto(new URL(path, url).href);
    await page.locator('.source').waitFor();
  };
  const button = (name: string) => page.getByRole('button', { name });
  const events = () => page.locator('.timeline li');

  /** Starts a run and waits until the events of an earlier one are gone. */
  async function begin(start = 'Let both write'): Promise<void> {
    await button(start).click();
    await page.getByText('The processes start…').waitFor();
  }

  it('leads through its pages with links and with arrow keys', async () => {
    await open('/');
    for (const { path, title } of STOPS.slice(1)) {
      await page.getByRole('link', { name: `Next ${title}` }).click();
      await page.waitForURL(`**${path}`);
      expect(await page.locator('.stops [aria-current=page]').textContent()).toContain(title);
      await page.waitForFunction(`document.title.startsWith('${title}')`);
    }
    for (const { path } of STOPS.toReversed().slice(1)) {
      await page.keyboard.press('ArrowLeft');
      await page.waitForURL(`**${path}`);
      await page.locator('.source').waitFor();
    }
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(`**${STOPS[1].path}`);
    expect(complaints).toEqual([]);
  });

  it.each(STOPS)('shows the lines of the real source files: $name', async ({ name, path }) => {
    await open(path);
    const shown = await page.locator('.source pre').allInnerTexts();
    expect(shown).toHaveLength(SOURCES[name].length);
    for (const [i, file] of SOURCES[name].entries()) {
      const source = await readFile(join(__dirname, '../../sample', file), 'utf8');
      const lines = String(shown[i])
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean);
      expect(lines.length).toBeGreaterThan(3);
      for (const line of lines) expect(source).toContain(line);
    }
  });

  it.each(STOPS)('fits a phone and has nothing that axe knows to be wrong: $name', async ({ path }) => {
    await open(path);
    expect(await beyondPhone(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    expect(await violations(page)).toEqual([]);
  });

  it('loses a write of two writers without the token and refuses it with the token, by keyboard', async () => {
    await open('/fencing/');
    await button('Let both write').focus();
    await page.keyboard.press('Enter');
    await page.locator('#outcome-unlocked[data-verdict=bad]').waitFor(RUN);
    expect(await page.locator('#balance').textContent()).toBe('110');

    // The button ignores the keyboard until the run has ended.
    await page.locator('.rush[aria-disabled=false]').waitFor(RUN);
    await page.getByRole('switch', { name: 'Fencing token' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Lease of writer 1').waitFor(RUN);
    await page.locator('#outcome-locked[data-verdict=good]').waitFor(RUN);
    expect(await page.locator('#balance').textContent()).toBe('150');
    const ending = 'Late write refused. Nothing is lost.';
    await page.getByRole('heading', { level: 1, name: ending, exact: true }).waitFor(RUN);

    const told = await events().allInnerTexts();
    expect(told.at(-1)).toContain('account refuses the older token');
    const tokens = told.flatMap((text) => /token (\d{10,})/.exec(text)?.[1] ?? []);
    expect(tokens).toEqual([tokens[0], expect.any(String), tokens[0]]);
    expect(Number(tokens[1])).toBeGreaterThan(Number(tokens[0]));
    expect(await page.locator('.seen code').textContent()).toBe(tokens[1]);
    expect(await violations(page)).toEqual([]);
    expect(await beyondPhone(page)).toEqual([]);
  }, 90_000);

  it('lets the next worker continue when the holder is killed, after the rest of its lease', async () => {
    await open('/takeover/');
    await begin('Start three workers');
    await button('Kill the holder').waitFor(RUN);
    await waitFor(async () => (await page.locator('.pages [data-who^=worker]').count()) > 1);
    await waitFor(async () => (await page.locator('[data-state=waiter]').count()) === 2);
    const victim = await page.locator('[data-state=holder] h3').textContent();
    const next = await page
      .locator('[data-state=waiter]')
      .filter({ hasText: 'next' })
      .locator('h3')
      .textContent();
    const stalls = new Stalls();
    closing({ close: () => stalls.stop() });
    await button('Kill the holder').focus();
    await page.keyboard.press('Enter');
    await page
      .locator('h1')
      .filter({ hasText: `${victim} is dead, and its lease runs out.` })
      .waitFor();
    expect(await violations(page)).toEqual([]);

    const taken = events().filter({ hasText: 'after the kill' });
    await taken.waitFor(RUN);
    const stalled = await stalls.stop();
    expect(await taken.innerText()).toContain(String(next));
    const [, after = ''] = /(\d+) ms after the kill/.exec(await taken.innerText()) ?? [];
    const [, rest = ''] =
      /lasts (\d+) ms more/.exec(await events().filter({ hasText: 'is killed' }).innerText()) ?? [];
    expect(Number(after)).toBeGreaterThan(Number(rest) - NOISE);
    expect(Number(after)).toBeLessThan(LEASE + NOISE + stalled);

    await events().filter({ hasText: 'report is complete: 24 pages, none twice' }).waitFor(RUN);
    expect(await page.locator(`.pages [data-who="${victim}"]`).count()).toBeGreaterThan(1);
    expect(await page.locator(`.pages [data-who="${next}"]`).count()).toBeGreaterThan(1);
    expect(await beyondPhone(page)).toEqual([]);
  }, 90_000);

  it('says that a process died, and offers another run', async () => {
    await open('/fencing/');
    await begin();
    const frozen = events().filter({ hasText: 'is frozen' });
    await frozen.waitFor(RUN);
    const pid = Number(/process (\d+)/.exec(await frozen.innerText())?.[1]);
    process.kill(pid, 'SIGKILL');
    await button('Let both write').waitFor(RUN);
    expect(await page.locator('.trouble').innerText()).toBe(
      `The run ended early: Process ${pid} ended with SIGKILL`,
    );
  }, 60_000);

  it('says that Redis does not answer, and ends the run', async () => {
    await open('/fencing/');
    await begin();
    await events().filter({ hasText: 'waits for the lock' }).waitFor(RUN);
    await redis.kill();
    await page.getByText('Redis does not answer: nobody gets the lock.').waitFor(RUN);
    await button('Let both write').waitFor(RUN);
    await button('Let both write').click();
    await waitFor(async () => (await page.locator('.trouble').innerText()) !== '', RUN);
    expect(await page.locator('.trouble').innerText()).toBe(
      'Redis does not answer, so there is no lock, and no run.',
    );
  }, 90_000);
});
