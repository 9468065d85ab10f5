import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../..');
const ENTRIES = ['index', 'testing/index', 'terminus/index', 'opentelemetry/index', 'inspector/index'].concat(
  ['node-redis/index', 'diagnostics/index'],
);
/** What the docstrings of the package mean as tags. */
const TAGS = ['example', 'param', 'returns', 'throws', 'internal', 'hidden', 'default', 'see'];

const files = ENTRIES.map((entry) => join(ROOT, 'lib', `${entry}.ts`));

/** The language service of editors, for the sources of the package. */
function languageService(): ts.LanguageService {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
  return ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    getCompilationSettings: () => options,
    getScriptFileNames: () => files,
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) =>
      ts.sys.fileExists(file) ? ts.ScriptSnapshot.fromString(readFileSync(file, 'utf8')) : undefined,
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (given) =>
      join(dirname(require.resolve('typescript')), ts.getDefaultLibFileName(given)),
  });
}

/** Every exported name, where an editor shows its text. */
function exportedNames(
  service: ts.LanguageService,
): readonly { file: string; name: string; position: number }[] {
  return files.flatMap((file) => {
    const names: { file: string; name: string; position: number }[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isExportSpecifier(node))
        names.push({ file, name: node.name.text, position: node.name.getStart() });
      ts.forEachChild(node, visit);
    };
    const source = service.getProgram()?.getSourceFile(file);
    if (source) visit(source);
    return names;
  });
}

it('shows every public symbol in an editor with whole examples, of which no decorator is taken for a tag', () => {
  const service = languageService();
  const names = exportedNames(service);
  expect(names.length).toBeGreaterThan(60);
  const flaws = names.flatMap(({ file, name, position }) => {
    const tags = service.getQuickInfoAtPosition(file, position)?.tags ?? [];
    return tags
      .filter(({ name: tag, text = [] }) => {
        const fences =
          text
            .map((part) => part.text)
            .join('')
            .split('```').length - 1;
        return !TAGS.includes(tag) || fences % 2 === 1;
      })
      .map((tag) => `${name}: @${tag.name}`);
  });
  expect(flaws).toEqual([]);
});
