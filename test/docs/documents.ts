import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { MarkdownDocument, type TableRow } from './markdown-document.js';

export const root = join(__dirname, '../..');

/** A document of the repository that people read as one. */
export interface NamedDocument {
  /** Its path in the repository. */
  readonly file: string;
  /** Parsed when it is asked for. */
  readonly document: MarkdownDocument;
}

/** The pages of the site that somebody wrote: those of the API come from the docstrings. */
export const pages: readonly NamedDocument[] = readdirSync(join(root, 'docs'), {
  recursive: true,
  encoding: 'utf8',
})
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.md') && !path.startsWith('api/'))
  .toSorted()
  .map((path) => named(`docs/${path}`));

/** What coding assistants read; the package contains it. */
export const SKILL = 'skills/nest-redis-lock/SKILL.md';

/** The pages, and what is read in the repository or on npm. */
export const documents: readonly NamedDocument[] = [
  ...['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/README.md', SKILL].map(named),
  ...pages,
];

/** @throws Error when there is no such document */
export function documentOf(file: string): MarkdownDocument {
  const found = documents.find((each) => each.file === file);
  if (found === undefined) throw new Error(`There is no document ${file}.`);
  return found.document;
}

/** The rows of the only table of all documents whose first column has this name. */
export function tableOf(firstColumn: string): readonly TableRow[] {
  const candidates = documents.filter(({ file }) =>
    readFileSync(join(root, file), 'utf8').includes(firstColumn),
  );
  const found = candidates.flatMap(({ document }) =>
    document.tables.filter(([row]) => row !== undefined && Object.keys(row)[0] === firstColumn),
  );
  const [table] = found;
  if (table === undefined || found.length > 1) {
    throw new Error(`There are ${found.length} tables that begin with the column "${firstColumn}".`);
  }
  return table;
}

function named(file: string): NamedDocument {
  return {
    file,
    get document() {
      return MarkdownDocument.at(join(root, file));
    },
  };
}
