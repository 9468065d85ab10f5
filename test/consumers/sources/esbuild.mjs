// Puts everything into one file; esbuild emits no decorator metadata, so the compiler comes first.
import { build } from 'esbuild';
import optionalPeers from './optional-peers.cjs';

const [main] = process.argv.slice(2);

/** Packages that others look for and do without. */
const leaveOut = {
  name: 'leave out what is not installed',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^.]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === 'asked' || from.kind === 'entry-point') return undefined;
      const { errors } = await resolve(path, { ...from, pluginData: 'asked' });
      return errors.length > 0 ? { path, external: true } : undefined;
    });
  },
};

await build({
  entryPoints: { main, 'one-copy': 'one-copy/main.mjs' },
  bundle: true,
  external: optionalPeers,
  platform: 'node',
  format: 'esm',
  outdir: 'dist',
  plugins: [leaveOut],
  // Packages that are CommonJS ask for built-in modules by require.
  banner: {
    js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
  },
});
