// npm run test:package: suites of Nest applications on the packed tarball instead of lib, and the applications of the docs.
import { join } from 'node:path';
import { providePackage } from '../setup/package.mjs';
import { thisSystem } from '../setup/system.mjs';
import { base, root } from './base.mjs';

const { directory } = providePackage(root, thisSystem(root), { codeOnly: true });
const dist = join(directory, 'dist');

export default {
  ...base,
  testMatch: ['<rootDir>/test/e2e/**/*.spec.ts', '<rootDir>/test/docs/applications.spec.ts'],
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns,
    // `http-errors` imports files of lib that the package does not export; `two-copies` compares paths of lib.
    '/e2e/(?:http-errors|two-copies)\\.spec\\.ts$',
  ],
  moduleNameMapper: {
    '^nest-redis-lock$': join(dist, 'index.js'),
    '^nest-redis-lock/(.*)$': join(dist, '$1.js'),
    '^(?:\\.\\./){2,3}lib/index\\.js$': join(dist, 'index.js'),
    '^(?:\\.\\./){2,3}lib/(testing|terminus|opentelemetry|inspector|node-redis|diagnostics)/index\\.js$':
      join(dist, '$1.js'),
    // Nothing of lib itself: there would be two copies of each class.
    '^(?:\\.\\./){2,3}lib/((?:engine|errors|keys|nest|options|primitives|service|store)/.*|lock-service\\.factory)\\.js$':
      '<rootDir>/not-in-the-package/$1',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};
