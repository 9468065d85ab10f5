// Puts everything into one file, as the documentation of NestJS shows for functions without a server.
const { join } = require('node:path');
const optionalPeers = require('./optional-peers.cjs');

module.exports = (options, webpack) => ({
  ...options,
  entry: { main: options.entry, 'one-copy': './one-copy/main.mjs' },
  output: { ...options.output, path: join(__dirname, 'dist'), filename: '[name].js' },
  externals: Object.fromEntries(optionalPeers.map((name) => [name, `commonjs ${name}`])),
  plugins: [
    ...options.plugins,
    // Packages that others look for and do without.
    new webpack.IgnorePlugin({
      checkResource(request, context) {
        if (request.startsWith('.')) return false;
        try {
          require.resolve(request, { paths: [context] });
          return false;
        } catch {
          return true;
        }
      },
    }),
  ],
});
