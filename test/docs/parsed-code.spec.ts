import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { generatedTables } from '../../tools/tables/tables.js';
import { root, tableOf } from './documents.js';

// One suite for all that parses lib: to load the compiler takes a second.

/** A name in lib that the code declares: of a variable, a member, a type or a Lua function. */
interface Declared {
  readonly file: string;
  /** Its words in lower case, as in `release with gap`. */
  readonly words: string;
}

const files = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) =>
    ts.createSourceFile(file, readFileSync(join(root, 'lib', file), 'utf8'), ts.ScriptTarget.Latest),
  );

function everyNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => everyNode(child, visit));
}

const wordsOf = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])|[_-]/g, '$1 $2').toLowerCase();

function declaredIn(file: ts.SourceFile): Declared[] {
  const found: Declared[] = [];
  const add = (name: string): unknown => found.push({ file: file.fileName, words: wordsOf(name) });
  everyNode(file, (node) => {
    if (ts.isIdentifier(node)) add(node.text);
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) add(node.literal.text);
    if (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node))
      for (const [, name = ''] of node.text.matchAll(/\blocal function (\w+)/g)) add(name);
  });
  return found;
}

const declared = files.flatMap((file) => [
  ...new Map(declaredIn(file).map((each) => [each.words, each])).values(),
]);

/** The names that contain a word, or words, in any form such as `released`. */
const withWords = (words: string): readonly Declared[] =>
  declared.filter((each) => new RegExp(`\\b${words}`).test(each.words));

/** Words with one meaning in lib, and the only folders whose names use them. */
const MEANT_BY: readonly (readonly [word: string, folders: RegExp])[] = [
  ['place', /^(engine|store)\//],
  ['bid', /^engine\/queue\//],
];

const endings = tableOf('ending').map(({ ending = '', not = '' }) => ({
  ending,
  others: not.split(', ').filter((each) => each !== ''),
}));

describe('The glossary', () => {
  it('has the words of the code for each ending', () => {
    expect(endings.map(({ ending }) => ending).filter((word) => withWords(word).length === 0)).toEqual([]);
  });

  it('has the only word for each ending', () => {
    const others = endings.flatMap((each) => each.others);
    expect(others).toContain('give back');
    expect(others.flatMap((word) => withWords(`${word}\\b`))).toEqual([]);
  });

  it.each(MEANT_BY)('has one meaning of the word %s', (word, folders) => {
    const found = withWords(`${word}s?\\b`);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ file }) => !folders.test(file))).toEqual([]);
  });

  it('has the names of classes in backticks that exist', () => {
    const classes = tableOf('term').flatMap(({ meaning = '' }) =>
      Array.from(meaning.matchAll(/`(\w+)`/g), ([, name]) => name),
    );
    expect(classes.length).toBeGreaterThan(0);
    expect(classes.filter((name = '') => !declared.some(({ words }) => words === wordsOf(name)))).toEqual([]);
  });
});

it('lib returns undefined for an absent value, not null', () => {
  const nulls: string[] = [];
  for (const file of files)
    everyNode(file, (node) => {
      if (ts.isFunctionLike(node) && node.type && /\bnull\b/.test(node.type.getText(file)))
        nulls.push(`${file.fileName}: ${node.type.getText(file)}`);
    });
  expect(nulls).toEqual([]);
});

it.each(generatedTables())('The table of $page is that of the code; `npm run tables` writes it', (table) => {
  const rows = tableOf(table.name).map((row) => Object.values(row));
  expect(rows).toEqual(table.rows);
});
