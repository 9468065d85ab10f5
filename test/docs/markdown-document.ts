import { readFileSync } from 'node:fs';
import { lexer, walkTokens, type Token, type Tokens } from 'marked';

/** A fenced code block. */
export interface CodeBlock {
  readonly language: string;
  /** The words after the language; readers of the rendered page do not see them. */
  readonly marks: readonly string[];
  readonly text: string;
  /** The line of the document on which the code begins, counted from 1. */
  readonly line: number;
}

/** One row of a table, by the names in its head. */
export type TableRow = Readonly<Record<string, string>>;

/** A Markdown file as its tests want to see it. */
export class MarkdownDocument {
  readonly blocks: readonly CodeBlock[];
  readonly links: readonly string[];
  /** What a link within the document can name, after its `#`. */
  readonly anchors: readonly string[];
  /** The npm scripts that it names. */
  readonly commands: readonly string[];
  private readonly tables: readonly (readonly TableRow[])[];

  constructor(file: string) {
    const source = readFileSync(file, 'utf8');
    const tokens = tokensOf(source);
    this.blocks = codeBlocks(source);
    this.links = tokens.filter(isLink).map(({ href }) => href);
    this.anchors = tokens.filter(isHeading).map(({ text }) => anchorOf(text));
    const named = source.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g);
    this.commands = [...named].map(([, script, short = '']) => script ?? short);
    this.tables = tokens.filter(isTable).map(rowsOf);
  }

  /** The rows of the only table whose first column has this name. */
  table(firstColumn: string): readonly TableRow[] {
    const found = this.tables.filter(([row]) => row !== undefined && Object.keys(row)[0] === firstColumn);
    const [table] = found;
    if (table === undefined || found.length > 1) {
      throw new Error(`There are ${found.length} tables that begin with the column "${firstColumn}".`);
    }
    return table;
  }
}

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  void walkTokens(lexer(source), (token) => {
    tokens.push(token);
  });
  return tokens;
}

/** From the top level alone, where the tokens follow one another without gaps and so give the lines. */
function codeBlocks(source: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let line = 1;
  for (const token of lexer(source)) {
    if (isCode(token)) {
      const [language = '', ...marks] = (token.lang ?? '').split(' ');
      blocks.push({ language, marks, text: token.text, line: line + 1 });
    }
    line += token.raw.split('\n').length - 1;
  }
  return blocks;
}

function rowsOf({ header, rows }: Tokens.Table): readonly TableRow[] {
  const names = header.map(({ text }) => text);
  return rows.map((cells) => Object.fromEntries(cells.map(({ text }, column) => [names[column], text])));
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isLink(token: Token): token is Tokens.Link {
  return token.type === 'link';
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}
