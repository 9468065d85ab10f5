// The applications of users in which the package is tried.

/**
 * @typedef {object} ApplicationKind
 * @property {string} name
 * @property {Record<string, unknown>} manifest its package.json, but for the package under test
 * @property {string[]} jestFlags flags of Node under which its Jest runs
 */

/** @param {number} nest */
function nestPackages(nest) {
  return {
    '@nestjs/common': `^${nest}`,
    '@nestjs/core': `^${nest}`,
    '@nestjs/platform-express': `^${nest}`,
    '@nestjs/testing': `^${nest}`,
    'reflect-metadata': '^0.2.2',
    rxjs: '^7.8.2',
  };
}

/** What Nest's own set-up says of the compiler, but strict and with a look into the declarations of packages. */
export const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  strict: true,
  skipLibCheck: false,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: ['node'],
  rootDir: 'src',
  outDir: 'dist',
};

/** @type {ApplicationKind[]} */
export const applications = [
  {
    name: 'NestJS 12, ES modules, ioredis 6',
    manifest: {
      type: 'module',
      dependencies: { ...nestPackages(12), ioredis: '^6' },
      devDependencies: { '@types/node': '^20', jest: '^30', typescript: '^6' },
    },
    jestFlags: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  },
  {
    name: 'NestJS 11, CommonJS, ioredis 5',
    manifest: {
      dependencies: { ...nestPackages(11), ioredis: '^5' },
      devDependencies: { '@types/node': '^20', jest: '^30', typescript: '~5.9' },
    },
    jestFlags: [],
  },
];
