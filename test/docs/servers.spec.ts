import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RedisServer } from '../support/redis-server.js';
import { documentOf } from './documents.js';

it('A usable server replies to the commands of the page on servers as the page says', async () => {
  await using server = await RedisServer.start();
  const [listener, client] = [server.client(), server.client()];
  await listener.subscribe('lock:inbox:try');
  const page = documentOf('docs/servers.md');
  const dialogue = page.blocks.find(({ language }) => language === 'console')?.text ?? '';
  const questions = [...dialogue.matchAll(/ EVAL "([^"]+)" (.+)\n\(integer\) (\d)/g)];

  expect(questions).toHaveLength(3);
  for (const [, script = '', args = '', answer] of questions) {
    const words = args.split(' ').map((word) => word.replaceAll('"', ''));
    expect([script, await client.call('EVAL', script, ...words)]).toEqual([script, Number(answer)]);
  }
});

it('The page on servers names every command that a script calls', () => {
  const scripts = join(__dirname, '../../lib/store/scripts');
  const files = readdirSync(scripts, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const called = files.flatMap((file) =>
    [...readFileSync(join(scripts, file), 'utf8').matchAll(/call\('([A-Z]+)'/g)].map(
      ([, command]) => command,
    ),
  );
  const named = new Set(
    documentOf('docs/servers.md')
      .lines.join(' ')
      .match(/`[A-Z]+`/g),
  );

  expect(called.length).toBeGreaterThan(100);
  expect([...new Set(called)].filter((command) => !named.has(`\`${command}\``))).toEqual([]);
});
