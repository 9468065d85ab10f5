import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sample } from '../../mutation/mutants.mjs';
import { isEnough, scoresOf, tableOf } from '../../mutation/score.mjs';

const GOALS = { 'lib/engine': 90, 'lib/keys': 50 };

const verdicts = (folder: string, killed: number, survived: number, verdict = 'survived' as const) => [
  ...Array.from({ length: killed }, () => ({ folder, verdict: 'killed' as const })),
  ...Array.from({ length: survived }, () => ({ folder, verdict })),
];

const mutants = Array.from({ length: 50 }, (_, index) => ({
  id: String(index),
  folder: 'lib/keys',
  file: 'lib/keys/key-part.ts',
  line: index,
  before: `return ${index};`,
  after: 'return 0;',
}));

describe('The score of mutants', () => {
  it('fails if one folder misses its goal, though the others exceed theirs', () => {
    const enough = scoresOf([...verdicts('lib/engine', 9, 1), ...verdicts('lib/keys', 1, 1)], GOALS);
    expect(isEnough(enough, undefined)).toBe(true);
    const short = scoresOf([...verdicts('lib/engine', 89, 11), ...verdicts('lib/keys', 99, 1)], GOALS);
    expect(isEnough(short, undefined)).toBe(false);
    expect(isEnough(short, 94)).toBe(true);
    expect(isEnough(short, 94.1)).toBe(false);
  });

  it('counts mutants that no test reaches as survivors, and equivalent ones not at all', () => {
    const [row] = scoresOf(
      [
        ...verdicts('lib/engine', 3, 0),
        { folder: 'lib/engine', verdict: 'not reached' },
        { folder: 'lib/engine', verdict: 'equivalent' },
      ],
      GOALS,
    );
    expect(row).toMatchObject({ mutants: 5, killed: 3, equivalent: 1, score: 75 });
  });

  it('shows each folder that has mutants, and all of them together', () => {
    const table = tableOf(scoresOf(verdicts('lib/keys', 3, 1), GOALS));
    expect(table).toMatch(/^folder.*\nlib\/keys .* 75\.0 % +50 %\nall .* 75\.0 % *$/u);
  });
});

describe('A sample of mutants', () => {
  it('is the same for the same seed, whatever the order, and another for another seed', () => {
    const chosen = sample(mutants, 10, 'one');
    expect(new Set(chosen).size).toBe(10);
    expect(sample(mutants.toReversed(), 10, 'one')).toEqual(chosen);
    expect(sample(mutants, 10, 'two')).not.toEqual(chosen);
  });

  it('replaces at most the mutants whose code has changed', () => {
    const chosen = sample(mutants, 10, 'one');
    const changed = mutants.map((mutant) =>
      mutant.id === '7' ? { ...mutant, before: 'if (rare)' } : mutant,
    );
    const kept = sample(changed, 10, 'one').filter((mutant) => chosen.includes(mutant));
    expect(kept.length).toBeGreaterThanOrEqual(9);
  });
});

describe('The list of equivalent mutants', () => {
  const root = join(__dirname, '../../..');
  const listed = JSON.parse(readFileSync(join(root, 'test/mutation/equivalent.json'), 'utf8')) as {
    readonly file: string;
    readonly before: string;
  }[];

  it('names code that exists', () => {
    const gone = listed.filter(({ file, before }) => {
      if (!existsSync(join(root, file))) return true;
      const code = readFileSync(join(root, file), 'utf8').replaceAll(/\s+/gu, ' ');
      return !code.includes(before.replace(/…$/u, ''));
    });
    expect(gone).toEqual([]);
  });
});
