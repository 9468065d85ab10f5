// What the other projects of Jest share with jest.config.json.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** @type {Record<string, unknown> & { moduleNameMapper: Record<string, string>, testMatch: string[], testPathIgnorePatterns: string[] }} */
export const config = JSON.parse(readFileSync(new URL('../../jest.config.json', import.meta.url), 'utf8'));

export const base = {
  ...config,
  rootDir: root,
  // Which suites a project has is said by `testMatch` alone.
  testPathIgnorePatterns: ['/node_modules/', '\\.long\\.spec\\.ts$'],
  testTimeout: 60_000,
};
