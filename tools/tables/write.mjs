// Writes the generated tables into their pages, from the code and its docstrings: npm run tables
import { createRequire } from 'node:module';
import { writeIntoPage } from '../page.mjs';

/** @type {typeof import('./tables.ts')} */
const { generatedTables, markdownOf } = createRequire(import.meta.url)('./tables.ts');

for (const table of generatedTables())
  await writeIntoPage(table.page, 'tables', markdownOf(table), table.name);
