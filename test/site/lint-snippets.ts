import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const OXLINT = join(__dirname, '../../node_modules/oxlint/bin/oxlint');
/** The rules of a new Nest application, except those that need types. */
const CONFIGURATION = {
  categories: { correctness: 'error' },
  rules: {
    'eslint/no-unused-vars': [
      'error',
      { args: 'after-used', argsIgnorePattern: '^$', varsIgnorePattern: '^$' },
    ],
    // A fragment may return before the return statement that ends its file.
    'eslint/no-unreachable': 'off',
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
 * Lints sources without files, with the rules of a new Nest application.
 *
 * @returns the findings of each source, in the order of the sources
 */
export async function lintSnippets(sources: readonly string[]): Promise<readonly (readonly string[])[]> {
  // Outside of the repository: oxlint skips ignored files.
  const folder = await mkdtemp(join(tmpdir(), 'snippets-'));
  try {
    const configuration = join(folder, 'configuration.json');
    await writeFile(configuration, JSON.stringify(CONFIGURATION));
    await Promise.all(sources.map((source, index) => writeFile(join(folder, fileOf(index)), source)));
    const { diagnostics } = await report(['-c', configuration, '--format', 'json', folder]);
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
