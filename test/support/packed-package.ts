import { join } from 'node:path';
import { providePackage } from '../../tools/setup/package.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';

const ROOT = join(__dirname, '../..');

/** The package as npm publishes it, installed in an application outside of this repository. */
export const packed = providePackage(ROOT, thisSystem(ROOT), { codeOnly: true });
