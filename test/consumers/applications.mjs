// The applications of users in which the package is tried. Four of them cover both versions of NestJS and ioredis,
// both module systems, and both with and without the optional peers of the package. The fifth is as `nest new` made
// applications for years; three more have node-redis, and no ioredis, and the last has no client of Redis at all.

/**
 * @typedef {object} ApplicationKind
 * @property {string} name
 * @property {number} nest
 * @property {Record<string, string>} client its client of Redis
 * @property {boolean} esm
 * @property {boolean} optionalPeers whether those of the package that are no clients are installed, too
 * @property {Record<string, string>} tools further packages that it is developed with
 * @property {readonly string[]} resolutions which of the compiler's ways to resolve modules it can use
 * @property {object} [compilerOptions] what its tsconfig.json says otherwise than those of the others
 * @property {readonly string[]} [neighbours] packages that it takes after ours, with an opinion on ioredis
 */

/** Packages of NestJS come in the version of NestJS. */
const NEIGHBOURS = ['@nestjs/typeorm', 'typeorm', '@nestjs/bullmq', 'bullmq', '@nestjs/microservices'];
const EVERY_RESOLUTION = ['node16', 'nodenext', 'bundler'];

/**
 * @param {Pick<ApplicationKind, 'name' | 'nest' | 'client'> & Partial<ApplicationKind>} kind
 * @returns {ApplicationKind}
 */
function application(kind) {
  return { esm: false, optionalPeers: false, tools: {}, resolutions: EVERY_RESOLUTION, ...kind };
}

export const nest11CommonJs = application({
  name: 'NestJS 11, CommonJS, ioredis 5',
  nest: 11,
  client: { ioredis: '^5' },
  optionalPeers: true,
  tools: {
    '@nestjs/cli': '^11',
    '@swc/cli': '^0.8',
    '@swc/core': '^1',
    jest: '^30',
    'ts-jest': '^29',
    'ts-loader': '^9',
    typescript: '~5.9',
  },
  neighbours: NEIGHBOURS,
});

/**
 * Made by `nest new` of version 10 or 11.0.0 to 11.0.5, and brought to NestJS 11: its compiler knows nothing of the
 * exports in a package.json.
 */
export const nest11Classic = application({
  name: 'NestJS 11, module commonjs, ioredis 5',
  nest: 11,
  client: { ioredis: '^5' },
  optionalPeers: true,
  tools: { '@nestjs/cli': '^11', jest: '^29', 'ts-jest': '^29', typescript: '~5.9' },
  resolutions: ['node10'],
  compilerOptions: {
    target: 'es2023',
    module: 'commonjs',
    moduleResolution: 'node10',
    skipLibCheck: true,
    allowSyntheticDefaultImports: true,
    isolatedModules: false,
    esModuleInterop: false,
    baseUrl: './',
  },
});

export const nest12Esm = application({
  name: 'NestJS 12, ES modules, ioredis 6',
  nest: 12,
  client: { ioredis: '^6', iovalkey: '^0.4' },
  esm: true,
  optionalPeers: true,
  tools: {
    '@nestjs/cli': '^12',
    '@swc/cli': '^0.8',
    '@swc/core': '^1',
    '@swc/jest': '^0.2',
    esbuild: '^0.28',
    jest: '^30',
    typescript: '^6',
    vitest: '^4',
  },
});

export const nest11Esm = application({
  name: 'NestJS 11, ES modules, ioredis 6',
  nest: 11,
  client: { ioredis: '^6' },
  esm: true,
});

export const nest12CommonJs = application({
  name: 'NestJS 12, CommonJS, ioredis 5',
  nest: 12,
  client: { ioredis: '^5' },
  tools: { jest: '^30', 'ts-jest': '^29', typescript: '^6' },
  // With node16 the compiler refuses to let CommonJS import NestJS 12 at all, for that is ES modules.
  resolutions: ['nodenext', 'bundler'],
  neighbours: NEIGHBOURS,
});

export const nest12NodeRedis = application({
  name: 'NestJS 12, ES modules, redis 6 alone',
  nest: 12,
  client: { redis: '^6' },
  esm: true,
});

export const nest11NodeRedis = application({
  name: 'NestJS 11, CommonJS, @redis/client 5 alone',
  nest: 11,
  client: { '@redis/client': '^5' },
});

export const nest11Redis5 = application({
  name: 'NestJS 11, ES modules, redis 5 alone',
  nest: 11,
  client: { redis: '^5' },
  esm: true,
  resolutions: ['nodenext'],
});

export const nest11NoClient = application({
  name: 'NestJS 11, CommonJS, no client',
  nest: 11,
  client: {},
  resolutions: ['nodenext'],
});

export const applications = [
  nest11CommonJs,
  nest11Classic,
  nest12Esm,
  nest11Esm,
  nest12CommonJs,
  nest12NodeRedis,
  nest11NodeRedis,
  nest11Redis5,
  nest11NoClient,
];

/** CommonJS, also with `"module": "commonjs"`, and ES modules, with ioredis, with node-redis alone, and without a client. */
export const oneOfEachKind = [nest11CommonJs, nest11Classic, nest12Esm, nest11NodeRedis, nest11NoClient];

/** @param {ApplicationKind} kind */
export function hasClient({ client }) {
  return Object.keys(client).length > 0;
}

/** @param {ApplicationKind} kind */
export function hasIovalkey({ client }) {
  return 'iovalkey' in client;
}

/** @param {ApplicationKind} kind */
export function hasIoredis({ client }) {
  return 'ioredis' in client;
}

/**
 * The package of node-redis in an application that has no ioredis.
 *
 * @param {ApplicationKind} kind
 */
export function nodeRedisOf(kind) {
  return hasIoredis(kind) ? undefined : Object.keys(kind.client)[0];
}

/**
 * The package.json of an application.
 *
 * @param {ApplicationKind} kind
 * @param {import('./package-under-test.mjs').PackageUnderTest} tested
 */
export function manifestOf({ nest, client, esm, optionalPeers, tools }, tested) {
  return {
    name: 'consumer',
    private: true,
    ...(esm && { type: 'module' }),
    dependencies: {
      '@nestjs/common': `^${nest}`,
      '@nestjs/core': `^${nest}`,
      '@nestjs/platform-express': `^${nest}`,
      '@nestjs/testing': `^${nest}`,
      ...client,
      'reflect-metadata': '^0.2.2',
      rxjs: '^7.8.2',
      ...(optionalPeers && versionsOf(tested.optionalPeers, nest)),
      'nest-redis-lock': `file:${tested.tarball}`,
    },
    devDependencies: { '@types/node': '^20', ...tools },
  };
}

/**
 * As npm is told to install them.
 *
 * @param {ApplicationKind} kind
 */
export function neighboursOf({ neighbours = [], nest }) {
  return neighbours.map((name) => (name.startsWith('@nestjs/') ? `${name}@^${nest}` : name));
}

/**
 * Packages of NestJS in the version of NestJS, the others as the package allows them.
 *
 * @param {Record<string, string>} peers
 * @param {number} nest
 */
function versionsOf(peers, nest) {
  return Object.fromEntries(
    Object.entries(peers).map(([name, range]) => [name, name.startsWith('@nestjs/') ? `^${nest}` : range]),
  );
}
