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
    it('accepts fitting methods, and explains the error of each other one', async () => {
      const expected = expectationsIn(CASES);
      expect(expected.length).toBeGreaterThan(60);
      expect(disagreements(expected, await compile(compiler, CASES, declarations))).toEqual([]);
    });
  });
}

/** The same without `strict`. */
export function describeLooseCases(compiler: string): void {
  describe(`@Locked, compiled by the package ${compiler} without strict checks,`, () => {
    it('still finds missing paths, but accepts parts that may be undefined', async () => {
      const folder = join(CASES, 'loose');
      const expected = expectationsIn(folder);
      expect(expected.length).toBeGreaterThan(5);
      expect(disagreements(expected, await compile(compiler, folder, declarations))).toEqual([]);
    });
  });
}
