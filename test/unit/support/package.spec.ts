import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providePackage } from '../../../tools/setup/package.mjs';
import { thisSystem } from '../../../tools/setup/system.mjs';

const FILES = {
  'package.json': JSON.stringify({
    name: 'nest-redis-lock',
    version: '0.0.0',
    bin: { 'nest-redis-lock': 'dist/index.js' },
    peerDependencies: { 'a-peer': '*' },
  }),
  'dist/index.js': 'code',
  'node_modules/a-peer/package.json': '{}',
};

describe('providePackage', () => {
  const created: string[] = [];

  afterEach(() => {
    for (const folder of created.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  function createCheckout(): string {
    const root = mkdtempSync(join(tmpdir(), 'checkout-'));
    created.push(root);
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(join(root, file, '..'), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    return root;
  }

  function provide(root: string) {
    const { read, run } = thisSystem(root);
    const installed = providePackage(root, {
      read,
      // The build is not what is tested.
      run: (program, args, options) => program === process.execPath || run(program, args, options),
    });
    created.push(installed.application);
    return installed;
  }

  it('links the peers of its own checkout, though another one has the same package', () => {
    const [first, second] = [createCheckout(), createCheckout()];
    provide(first);

    const { application } = provide(second);

    const peer = join(application, 'node_modules/a-peer');
    expect(realpathSync(peer)).toBe(realpathSync(join(second, 'node_modules/a-peer')));
  });

  it('returns the same application until the package changes', () => {
    const root = createCheckout();
    const before = provide(root).application;

    const again = provide(root).application;
    writeFileSync(join(root, 'dist/index.js'), 'other code');
    const after = provide(root).application;

    expect(again).toBe(before);
    expect(after).not.toBe(before);
  });
});
