import { dirname, join } from 'node:path';
import ts from 'typescript';

/**
 * Compiles sources that are in no file, as if they lay beside this one, with the options of the repository.
 *
 * @returns the errors of each source, in the order of the sources
 */
export function compileSnippets(sources: readonly string[]): readonly (readonly string[])[] {
  const files = new Map(sources.map((source, index) => [join(__dirname, `snippet-${index}.ts`), source]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  host.fileExists = (file) => files.has(file) || ts.sys.fileExists(file);
  host.readFile = (file) => files.get(file) ?? ts.sys.readFile(file);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].map((file) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(file)).map(textOf),
  );
}

/** Those of the repository; unused names are no mistake in an example. */
function compilerOptions(): ts.CompilerOptions {
  const file = join(__dirname, '../../tsconfig.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, dirname(file));
  return { ...options, noUnusedLocals: false, noUnusedParameters: false };
}

function textOf({ file, start, messageText }: ts.Diagnostic): string {
  const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
  return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
}
