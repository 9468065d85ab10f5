import { join } from 'node:path';
import { compile } from './compile.js';
import { disagreements, expectationsIn } from './expectations.js';

const CASES = join(__dirname, 'cases');

jest.setTimeout(120_000);

describe.each(['typescript-5.9', 'typescript', 'typescript-7'])(
  '@Locked, compiled by the package %s,',
  (compiler) => {
    it('takes the methods that fit and says of each other one what is wrong', async () => {
      const expected = expectationsIn(CASES);
      expect(expected.length).toBeGreaterThan(60);
      expect(disagreements(expected, await compile(compiler, CASES))).toEqual([]);
    });
  },
);

describe('@Locked, compiled without strict checks,', () => {
  it('still finds paths that do not exist, but takes what may be undefined', async () => {
    const folder = join(CASES, 'loose');
    const expected = expectationsIn(folder);
    expect(expected.length).toBeGreaterThan(5);
    expect(disagreements(expected, await compile('typescript-5.9', folder))).toEqual([]);
  });
});
