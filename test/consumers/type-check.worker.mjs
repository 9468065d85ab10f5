// Checks applications by a compiler's own API, one after the other in one thread: what it is made of is loaded and warm
// from the second on.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const ts = createRequire(import.meta.url)(workerData.compiler);

/** @param {{ fileName: string, isDeclarationFile: boolean }} file */
function isLookedInto({ fileName, isDeclarationFile }) {
  return !isDeclarationFile || fileName.includes(`/node_modules/${workerData.package}/`);
}

/**
 * What `tsc` would say of a project, its own files and those of the package under test.
 *
 * @param {{ project: string, options: object }} order
 */
function errorsOf({ project, options }) {
  const { options: given } = ts.convertCompilerOptionsFromJson(options, dirname(project));
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
  const config = ts.getParsedCommandLineOfConfigFile(project, { ...given, noEmit: true }, host);
  const program = ts.createProgram({
    rootNames: config.fileNames,
    options: config.options,
    configFileParsingDiagnostics: config.errors,
  });
  const files = program.getSourceFiles().filter(isLookedInto);
  const found = [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
    ...program.getGlobalDiagnostics(),
  ];
  const format = {
    getCanonicalFileName: (/** @type {string} */ name) => name,
    getCurrentDirectory: () => dirname(project),
    getNewLine: () => '\n',
  };
  const looked = files.filter(({ isDeclarationFile }) => isDeclarationFile).length;
  if (looked === 0) throw new Error(`${project} uses no declaration of ${workerData.package}`);
  return ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(found), format);
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has none.
parentPort?.on('message', (order) => parentPort?.postMessage(errorsOf(order)));
