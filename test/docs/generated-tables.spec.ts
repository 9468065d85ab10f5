import { generatedTables } from '../../tools/tables/tables.js';
import { tableOf } from './documents.js';

it.each(generatedTables())('The table of $page is that of the code; `npm run tables` writes it', (table) => {
  const rows = tableOf(table.name).map((row) => Object.values(row));
  expect(rows).toEqual(table.rows);
});
