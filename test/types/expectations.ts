import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../support/compile.js';

/** A line that must not compile, and a piece of what the compiler must say about it. */
export interface Expectation {
  readonly file: string;
  readonly line: number;
  readonly said: string;
}

/** What the `// error: …` comments in the files of a folder ask for. */
export function expectationsIn(folder: string): Expectation[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .flatMap((text, index) => {
          const said = /\/\/ error: (.+)$/.exec(text)?.[1];
          return said === undefined ? [] : [{ file, line: index + 1, said }];
        }),
    );
}

/** Where compiler and comments disagree, one line each: errors that nobody asked for, and those that are missing. */
export function disagreements(
  expected: readonly Expectation[],
  diagnostics: readonly Diagnostic[],
): string[] {
  const at = ({ file, line }: Diagnostic | Expectation): string => `${file}:${line}`;
  const places = new Set([...expected, ...diagnostics].map(at));
  return [...places].flatMap((place) => {
    const said = expected.find((expectation) => at(expectation) === place)?.said;
    const messages = diagnostics
      .filter((diagnostic) => at(diagnostic) === place)
      .map(({ message }) => message);
    if (said !== undefined && messages.some((message) => message.includes(said))) return [];
    return `${place} should ${said === undefined ? 'compile' : `say "${said}"`}, but: ${messages.join('; ') || 'compiles'}`;
  });
}
