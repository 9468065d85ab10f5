import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, Declarations, instantiations } from '../support/compile.js';
import { disagreements, expectationsIn } from './expectations.js';

const CASES = join(__dirname, 'cases');

/** Classes of ten methods with three placeholders each, in a folder of their own. */
class ManyMethods implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async write(classes: number): Promise<ManyMethods> {
    const methods = new ManyMethods(await mkdtemp(join(__dirname, '../../.cache/methods-')));
    const code = Array.from({ length: classes }, (_, c) => {
      const body = Array.from({ length: 10 }, (__, m) => {
        return `@Locked('order${c}-${m}:<0.sku>:<0.customer.id>:<1>') async m${m}(order: Order${c}, id: number) {}`;
      });
      return `interface Order${c} { sku: string; customer: { id: string } }\nexport class Class${c} {\n${body.join('\n')}\n}`;
    });
    await writeFile(
      join(methods.folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(CASES, 'tsconfig.json') }),
    );
    await writeFile(
      join(methods.folder, 'methods.ts'),
      `import { Locked } from 'nest-redis-lock';\n${code.join('\n')}`,
    );
    return methods;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

let declarations: Declarations;
beforeAll(async () => (declarations = await Declarations.emit()));
afterAll(() => declarations[Symbol.asyncDispose]());

/** Largest number of lines of an error, and the line by which the sentence about a template is there. */
interface ErrorLength {
  readonly lines: number;
  readonly sentence: number;
}

/** What the compiler of an installed TypeScript package says of each use of `@Locked` in the cases. */
export function describeStrictCases(compiler: string, atMost: ErrorLength): void {
  describe(`@Locked, compiled by the package ${compiler},`, () => {
    it('accepts fitting methods, and explains the error of each other one', async () => {
      const expected = expectationsIn(CASES);
      expect(expected.length).toBeGreaterThan(60);
      const errors = await compile(compiler, CASES, declarations);
      expect(disagreements(expected, errors)).toEqual([]);

      const lines = errors.map(({ message }) => message.split('\n'));
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(atMost.lines);
      const ofTemplates = errors
        .filter(({ file }) => file === 'paths.ts')
        .map(({ message }) => message.split('\n'));
      expect(ofTemplates.length).toBeGreaterThan(20);
      const sentences = ofTemplates.map(
        (each) => each.findIndex((line) => line.includes('nest-redis-lock: ')) + 1,
      );
      expect(Math.min(...sentences)).toBeGreaterThan(0);
      expect(Math.max(...sentences)).toBeLessThanOrEqual(atMost.sentence);
    });

    it('checks 300 methods with three placeholders in at most 210,000 instantiations', async () => {
      await using methods = await ManyMethods.write(30);
      expect(await instantiations(compiler, methods.folder, declarations)).toBeLessThan(210_000);
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
