import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LuaScript } from '../../../lib/store/scripts/lua-script.js';

const folder = join(__dirname, '../../../lib/store/scripts');
const files = readdirSync(folder).filter((file) => file.endsWith('.script.ts'));

describe('A script', () => {
  // Errors name it: "Redis did not answer force-release within 1000 ms."
  it.each(files)('has the name of its file: %s', (file) => {
    const scripts = Object.values(require(join(folder, file)) as Record<string, LuaScript>);

    expect(scripts.map(({ name }) => `${name}.script.ts`)).toEqual([file]);
  });
});
