import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const OXLINT = join(ROOT, 'node_modules/oxlint/bin/oxlint');
/** The rules that need types in a new Nest application: `recommendedTypeChecked` of typescript-eslint. */
const TYPE_CHECKED = [
  'await-thenable',
  'no-array-delete',
  'no-base-to-string',
  'no-duplicate-type-constituents',
  'no-floating-promises',
  'no-for-in-array',
  'no-implied-eval',
  'no-misused-promises',
  'no-redundant-type-constituents',
  'no-unnecessary-type-assertion',
  'no-unsafe-argument',
  'no-unsafe-assignment',
  'no-unsafe-call',
  'no-unsafe-enum-comparison',
  'no-unsafe-member-access',
  'no-unsafe-return',
  'no-unsafe-unary-minus',
  'only-throw-error',
  'prefer-promise-reject-errors',
  'require-await',
  'restrict-plus-operands',
  'restrict-template-expressions',
  'unbound-method',
];
/** The rules of a new Nest application. */
const CONFIGURATION = {
  categories: { correctness: 'error' },
  rules: {
    'eslint/no-unused-vars': [
      'error',
      { args: 'after-used', argsIgnorePattern: '^$', varsIgnorePattern: '^$' },
    ],
    // A fragment may return before the return statement that ends its file.
    'eslint/no-unreachable': 'off',
    ...Object.fromEntries(TYPE_CHECKED.map((rule) => [`typescript/${rule}`, 'error'])),
  },
};

interface Report {
  readonly diagnostics: readonly {
    readonly code: string;
    readonly message: string;
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

/**
 * Lints sources with the rules of a new Nest application.
 *
 * @returns the findings of each source, in the order of the sources
 */
export async function lintSnippets(sources: readonly string[]): Promise<readonly (readonly string[])[]> {
  // Within the repository, for its packages. Git ignores the folder, so oxlint must not ask it.
  const folder = await mkdtemp(join(ROOT, '.cache/snippets-'));
  try {
    const configuration = join(folder, 'configuration.json');
    await writeFile(configuration, JSON.stringify(CONFIGURATION));
    const types = { extends: join(ROOT, 'tsconfig.json'), include: ['*.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(types));
    await copyFile(join(ROOT, 'test/docs/fragment-context.ts'), join(folder, 'fragment-context.ts'));
    const files = sources.map((_, index) => join(folder, fileOf(index)));
    await Promise.all(files.map((file, index) => writeFile(file, sources[index] ?? '')));
    const options = ['--type-aware', '--no-ignore', '-c', configuration, '--format', 'json'];
    const { diagnostics } = await report([...options, ...files]);
    return sources.map((_, index) =>
      diagnostics
        .filter(({ filename }) => basename(filename) === fileOf(index))
        .map(({ code, message, labels: [label] }) => `line ${label?.span.line}: ${message} ${code}`),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** oxlint prints its findings and then fails. */
function report(args: readonly string[]): Promise<Report> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [OXLINT, ...args], { maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (stdout.startsWith('{')) resolve(JSON.parse(stdout) as Report);
      else reject(new Error(`oxlint reported nothing: ${stdout}${stderr}`, { cause: error }));
    });
  });
}

function fileOf(index: number): string {
  return `snippet-${index}.ts`;
}
