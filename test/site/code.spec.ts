import { documents } from '../docs/documents.js';
import { sourceOf } from '../docs/snippet.js';
import { lintSnippets } from './lint-snippets.js';

const blocks = documents.flatMap(({ file, document }) =>
  document.blocks
    .filter(({ language, marks }) => language === 'ts' && !marks.includes('refused'))
    .map((block) => ({ ...block, where: `${file}:${block.line}` })),
);

describe('the TypeScript of the pages', () => {
  it('passes the lint rules of a new Nest application', async () => {
    const sources = blocks.map(sourceOf);
    const found = await lintSnippets(sources);
    const findings = blocks.map(({ where, text }, index) => ({
      where,
      // The first line of a fragment's file imports for every fragment.
      said: found[index]?.filter((finding) => text === sources[index] || !finding.startsWith('line 1:')),
    }));
    expect(findings.filter(({ said }) => said?.length !== 0)).toEqual([]);
    expect(found.length).toBeGreaterThan(50);
  });

  it('must await each Promise', async () => {
    const source = 'export function start(): void {\n  Promise.resolve(1);\n}';
    const [findings = []] = await lintSnippets([source]);
    expect(findings.join()).toMatch(/line 2: .*no-floating-promises/);
  });

  it('must use each parameter, whatever its name', async () => {
    const source = 'export async function wait(_milliseconds: number): Promise<void> {}';
    const [findings = []] = await lintSnippets([source]);
    expect(findings.join()).toMatch(/no-unused-vars/);
  });
});
