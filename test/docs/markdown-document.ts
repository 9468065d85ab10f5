import { readFileSync } from 'node:fs';
import { lexer, walkTokens, type Token, type Tokens } from 'marked';
import manifest from '../../package.json';
import { slugOf } from '../../docs/.vitepress/slug.mjs';
import { addressesOf, withoutAddresses } from '../../tools/release/addresses.mjs';

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

/** The level of a heading, and the code in it. */
interface Heading {
  readonly level: number;
  readonly code: readonly string[];
}

/** A Markdown file as its tests want to see it. */
export class MarkdownDocument {
  private static readonly read = new Map<string, MarkdownDocument>();

  readonly lines: readonly string[];
  readonly blocks: readonly CodeBlock[];
  /** Where its links lead, and where its pictures lie. */
  readonly links: readonly string[];
  /** What a link can name, after its `#`. */
  readonly anchors: readonly string[];
  /** The npm scripts that it names. */
  readonly commands: readonly string[];
  readonly tables: readonly (readonly TableRow[])[];
  readonly headings: readonly Heading[];

  private constructor(source: string) {
    const top = lexer(source);
    const tokens = allOf(top);
    this.lines = source.replace(/\n$/, '').split('\n');
    this.blocks = codeBlocks(top);
    this.links = tokens.filter(isLink).map(({ href }) => href);
    this.anchors = anchorsOf(tokens.filter(isHeading));
    const named = source.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g);
    this.commands = [...named].map(([, script, short = '']) => script ?? short);
    this.tables = tokens.filter(isTable).map(rowsOf);
    this.headings = tokens.filter(isHeading).map(headingOf);
  }

  /** What is at a path, read once. */
  static at(path: string): MarkdownDocument {
    const known = this.read.get(path);
    if (known) return known;
    const found = new MarkdownDocument(
      withoutAddresses(readFileSync(path, 'utf8'), addressesOf(manifest as object)),
    );
    this.read.set(path, found);
    return found;
  }
}

function allOf(top: readonly Token[]): readonly Token[] {
  const tokens: Token[] = [];
  void walkTokens([...top], (token) => {
    tokens.push(token);
  });
  return tokens;
}

/** From the top level alone, where the tokens follow one another without gaps and so give the lines. */
function codeBlocks(top: readonly Token[]): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let line = 1;
  for (const token of top) {
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

function headingOf({ depth, text }: Tokens.Heading): Heading {
  return { level: depth, code: [...text.matchAll(/`[^`]+`/g)].map(([code]) => code) };
}

/** A heading that is there twice is numbered from its second time on. */
function anchorsOf(headings: readonly Tokens.Heading[]): readonly string[] {
  const slugs = headings.map(({ text }) => slugOf(text));
  return slugs.map((slug, index) => {
    const before = slugs.slice(0, index).filter((each) => each === slug).length;
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isLink(token: Token): token is Tokens.Link | Tokens.Image {
  return token.type === 'link' || token.type === 'image';
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}
