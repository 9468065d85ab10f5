import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, readFigures, type Run, textsOf, withFigures, withRun } from '../../tools/figures/figures.mjs';
import { root } from './documents.js';

const REGION = /<!-- figures: ([\w-]+) -->[^]*?<!-- end -->/g;
const figures = readFigures();

describe.each(PAGES)('%s', (file) => {
  const page = readFileSync(join(root, file), 'utf8');

  it('tells the figures of the last whole run of the benchmark', () => {
    expect(unbroken(withFigures(page, figures))).toBe(unbroken(page));
  });

  it('tells no such figure outside of its marks', () => {
    const values = Object.values(figures.runs[0].cases).flatMap((figuresOfCase) =>
      Object.values(figuresOfCase),
    );
    const written = values.map((value) => value.toLocaleString('en')).filter((text) => text.length > 3);
    const typed = page.replaceAll(REGION, '');
    expect(written.filter((text) => typed.includes(text))).toEqual([]);
  });
});

it('Every text of figures stands on a page', () => {
  const shown = PAGES.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(REGION)].map(([, name]) => name),
  );
  expect(new Set(shown)).toEqual(new Set(Object.keys(textsOf(figures))));
});

describe('A whole run', () => {
  const [present] = figures.runs;
  const run = (node: string, redis: string, goals: Run['goals'] = []): Run => {
    return { ...present, machine: { ...present.machine, node, redis }, goals };
  };

  it('takes the place of an earlier one on the same releases, and the newest Node comes first', () => {
    const two = withRun({ runs: [run('20.1.0', '7.0.1')] }, run('24.1.0', '8.6.1'));
    const three = withRun(two, run('20.2.0', '7.0.2'));

    expect(three.runs.map(({ machine }) => `${machine.node} ${machine.redis}`)).toEqual([
      '24.1.0 8.6.1',
      '20.2.0 7.0.2',
    ]);
  });

  it('tells its goals beside those of the others, and which were missed', () => {
    const goal = { case: 'free-1', text: 'fast', measured: '1.02 (0.98–1.05)', met: true };
    const missed = { ...goal, measured: '0.70 (0.60–0.80)', met: false };
    const { goals } = textsOf({ runs: [run('24.1.0', '8.6.1', [goal]), run('20.2.0', '7.0.2', [missed])] });

    expect(goals).toContain('| free-1 | fast | 1.02 (0.98–1.05) | **missed:** 0.70 (0.60–0.80) |');
  });
});

/** Without what prettier decides: the lines, and the width of columns. */
function unbroken(markdown: string): string {
  return markdown.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---');
}
