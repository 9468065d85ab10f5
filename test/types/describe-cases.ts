import { join } from 'node:path';
import { compile, Declarations } from '../support/compile.js';
import { disagreements, expectationsIn } from './expectations.js';

const CASES = join(__dirname, 'cases');

let declarations: Declarations;
beforeAll(async () => (declarations = await Declarations.emit()));
afterAll(() => declarations[Symbol.asyncDispose]());

/** What the compiler of an installed TypeScript package says of each use of `@Locked` in the cases. */
export function describeStrictCases(compiler: string): void {
  describe(`@Locked, compiled by the package ${compiler},`, () => {
    it('takes the methods that fit and says of each other one what is wrong', async () => {
      const expected = expectationsIn(CASES);
      expect(expected.length).toBeGreaterThan(60);
      expect(disagreements(expected, await compile(compiler, CASES, declarations))).toEqual([]);
    });
  });
}

/** The same without `strict`. */
export function describeLooseCases(compiler: string): void {
  describe(`@Locked, compiled by the package ${compiler} without strict checks,`, () => {
    it('still finds paths that do not exist, but takes what may be undefined', async () => {
      const folder = join(CASES, 'loose');
      const expected = expectationsIn(folder);
      expect(expected.length).toBeGreaterThan(5);
      expect(disagreements(expected, await compile(compiler, folder, declarations))).toEqual([]);
    });
  });
}
