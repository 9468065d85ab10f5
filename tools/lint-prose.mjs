// Checks the English of pages and docstrings: node tools/lint-prose.mjs [FILE…]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { visit } from 'unist-util-visit';

/** @typedef {{ readonly line: number; readonly text: string }} Passage a part of a file that is Markdown */

/** Words in a sentence. The goal is 25. */
const LONGEST = 32;

/** Phrases that have a plain counterpart, and that counterpart. */
const PHRASES = Object.entries({
  'who waits': 'waiters',
  'for want of': 'without',
  'in vain': 'the result',
  '(?:is|are) felt': 'costs',
  'is over': 'has expired, or has ended',
  '(?:gives?|given) back': 'releases, or returns',
  'goes on': 'continues',
  'lets? in': 'admits',
  '(?:stands?|standing) in the queue': 'waits',
  'what is asked for': 'the request',
  'is no (?:error|outage|cycle|question|matter)': 'is not …',
}).map(([phrase, plain]) => ({ pattern: new RegExp(String.raw`\b${phrase}\b`, 'i'), plain }));

/** Beginnings of sentences without a named subject. */
const OPENING = /^(?:whoever|those who|that which|the same,|none is|comes the)\b/i;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const listed = process.argv.slice(2);
const files =
  listed.length > 0
    ? listed
    : tracked('*.md', 'docs/**/*.md', 'sample/**/*.md', 'test/**/*.md', 'lib/**/*.ts');
const problems = files.flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** @param {string[]} patterns */
function tracked(...patterns) {
  const globs = patterns.map((pattern) => `:(glob)${pattern}`);
  return execFileSync('git', ['ls-files', ...globs], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
}

/** @param {string} file */
function problemsOf(file) {
  const source = readFileSync(file, 'utf8');
  const passages = file.endsWith('.md') ? [{ line: 1, text: source }] : docstringsOf(source);
  return passages
    .flatMap(paragraphsOf)
    .flatMap(({ line, text }) =>
      [...sentences.segment(text)].flatMap(({ segment }) =>
        problemsOfSentence(segment.trim()).map((problem) => `${file}:${line}: ${problem}: ${segment.trim()}`),
      ),
    );
}

/** @param {string} sentence */
function problemsOfSentence(sentence) {
  const length = sentence.split(/\s+/).length;
  return [
    ...(length > LONGEST ? [`${length} words, at most ${LONGEST}`] : []),
    ...(OPENING.test(sentence) ? ['name the subject'] : []),
    ...PHRASES.flatMap(({ pattern, plain }) => {
      const [found] = pattern.exec(sentence) ?? [];
      return found === undefined ? [] : [`"${found}", better: ${plain}`];
    }),
  ];
}

/**
 * @param {Passage} passage
 * @returns {Passage[]} its paragraphs without markup, tables and code blocks
 */
function paragraphsOf({ line, text }) {
  /** @type {Passage[]} */
  const paragraphs = [];
  visit(fromMarkdown(text), 'paragraph', (paragraph) => {
    const plain = plainText(paragraph).replaceAll(/\s+/g, ' ');
    if (plain.startsWith('|')) return;
    paragraphs.push({ line: line + (paragraph.position?.start.line ?? 1) - 1, text: plain });
  });
  return paragraphs;
}

/**
 * @param {import('mdast').Nodes} node
 * @returns {string} with a noun in place of code
 */
function plainText(node) {
  if (node.type === 'inlineCode') return 'X';
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(plainText).join('') : '';
}

/**
 * @param {string} source
 * @returns {Passage[]} the texts of comments that begin with two stars, each tag by itself, without examples
 */
function docstringsOf(source) {
  return [...source.matchAll(/\/\*\*(.*?)\*\//gs)].flatMap(({ index, 1: body = '' }) => {
    const first = source.slice(0, index).split('\n').length;
    /** @type {{ line: number; text: string }[]} */
    const parts = [{ line: first, text: '' }];
    // What a script takes and replies is a table.
    const [prose = ''] = body.split(/^\s*\*\s*KEYS\b/m);
    for (const [offset, starred] of prose.split('\n').entries()) {
      const text = starred.replace(/^\s*\* ?/, '').trimEnd();
      if (text.startsWith('@')) parts.push({ line: first + offset, text: '' });
      const last = parts.at(-1);
      if (last) last.text += `${text.replace(/^@(?:param|typedef|type)\b.*|^@\w+/, '')}\n`;
    }
    return parts;
  });
}
