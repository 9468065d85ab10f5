import { transformSync } from '@swc/core';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
/** Schedules within which every fault of a simulation has to be caught. */
const LIMIT = 5_000;
/** Whether a fault is caught must not depend on chance: figures of test/README.md are those of this seed. */
const SEED = Number(process.env['SIMULATION_SEED'] ?? 20_261_124);

/** A line that is wrong on purpose, so that the simulation has something to catch. */
export interface DeliberateFault {
  /** What goes wrong, as test/README.md lists it. */
  readonly fault: string;
  readonly file: string;
  /** Text that occurs there exactly once. */
  readonly text: string;
  readonly instead: string;
}

/** A random schedule, and how it is played: it rejects where a rule is broken. */
export interface Game<T> {
  readonly schedules: fc.Arbitrary<T>;
  readonly play: (schedule: T) => Promise<void>;
}

/**
 * Plays random schedules with one fault after the other, until it is caught.
 *
 * @param load requires the game anew: each fault gets modules of its own
 * @param limit schedules within which every fault has to be caught
 */
export function describeDeliberateFaults<T>(
  title: string,
  faults: readonly DeliberateFault[],
  load: () => Game<T>,
  { limit = LIMIT, unit = 'schedules' } = {},
): void {
  describe(title, () => {
    it.each(faults)('catches: $fault', async (fault) => {
      await jest.isolateModulesAsync(async () => {
        jest.doMock(resolve(ROOT, fault.file), () => faulty(fault));
        const { schedules, play } = load();
        const property = fc.asyncProperty(schedules, play);
        const { failed, numRuns, errorInstance } = await fc.check(property, {
          seed: SEED,
          numRuns: limit,
          endOnFailure: true,
        });
        const verdict = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
        process.stdout.write(`${numRuns} ${unit}, seed ${SEED}: ${fault.fault}\n  ${firstLine(verdict)}\n`);
        // A fault that only makes the code throw would say nothing of the rules.
        expect(verdict).not.toMatch(/TypeError|ReferenceError|SyntaxError/);
        expect(failed).toBe(true);
      });
      jest.dontMock(resolve(ROOT, fault.file));
    });
  });
}

/** The module with the fault in it. */
export function faulty({ file, text, instead }: DeliberateFault): unknown {
  const path = resolve(ROOT, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(text).length !== 2) throw new Error(`${file} does not have once: ${text}`);
  const { code } = transformSync(
    source.replace(text, () => instead),
    {
      filename: path,
      swcrc: false,
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        keepClassNames: true,
      },
      module: { type: 'commonjs' },
    },
  );
  const module = { exports: {} };
  const requireFromThere = (id: string): unknown =>
    jest.requireActual(id.startsWith('.') ? resolve(dirname(path), id.replace(/\.js$/, '')) : id);
  // oxlint-disable-next-line typescript/no-implied-eval -- It is the project's own code.
  new Function('module', 'exports', 'require', code)(module, module.exports, requireFromThere);
  return module.exports;
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n') + 1 || undefined).trim();
}
