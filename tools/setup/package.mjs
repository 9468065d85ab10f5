// Packs dist and installs the tarball outside of the repository, unless that is done.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { digestOf, provideBuild } from './build.mjs';

/** @typedef {import('./system.mjs').System} System */
/**
 * @typedef {{ filename: string, size: number, unpackedSize: number, files: { path: string }[] }} PackReport
 *
 * @typedef {object} InstalledPackage
 * @property {string} application the folder of an application that has the package and its peers, and nothing else
 * @property {string} directory the installed package
 * @property {string} program the command
 * @property {string} tarball
 * @property {PackReport} report what `npm pack` reports
 */

/** What the tarball depends on. */
const PACKED = ['dist', 'skills', 'package.json', 'README.md', 'README.zh-CN.md', 'LICENSE'];
const NAME = 'nest-redis-lock';

/**
 * Builds and packs the package and installs the tarball in an application outside of the repository, where no package of
 * the repository is found but the peers, which are linked. Needs no network. Later calls return the same application
 * until the package changes. Each checkout has its own, because the links lead into its node_modules.
 *
 * @param {string} root directory of package.json
 * @param {Pick<System, 'run' | 'read'>} system
 * @param {{ codeOnly?: boolean }} [options] whether a build without declarations is enough
 * @returns {InstalledPackage}
 * @throws Error when it cannot be built, packed or unpacked
 */
export function providePackage(root, system, options) {
  provideBuild(root, system, options);
  const application = join(tmpdir(), `${NAME}-packed-${digestOfPackage(root).slice(0, 16)}`);
  if (!existsSync(application)) {
    const draft = mkdtempSync(`${application}-`);
    try {
      install(root, system, draft);
      // The folder appears as a whole: other processes may look for it.
      if (!existsSync(application)) renameSync(draft, application);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  const directory = join(application, 'node_modules', NAME);
  const { bin } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  /** @type {PackReport} */
  const report = JSON.parse(readFileSync(join(application, 'report.json'), 'utf8'));
  return {
    application,
    directory,
    program: join(directory, bin[NAME]),
    tarball: join(application, report.filename),
    report,
  };
}

/** @param {string} root */
function digestOfPackage(root) {
  return createHash('sha256').update(realpathSync(root)).update(digestOf(root, PACKED)).digest('hex');
}

/**
 * @param {string} root
 * @param {Pick<System, 'run' | 'read'>} system
 * @param {string} application
 */
function install(root, system, application) {
  const packed = system.read('npm', ['pack', '--json', '--silent', '--pack-destination', application, root]);
  if (packed === undefined) throw new Error('npm pack failed; its output above says why');
  /** @type {PackReport[]} */
  const [report] = JSON.parse(packed);
  if (report === undefined) throw new Error('npm pack reports no package');
  writeFileSync(join(application, 'report.json'), JSON.stringify(report));
  writeFileSync(join(application, 'package.json'), JSON.stringify({ private: true }));

  const packages = join(application, 'node_modules');
  mkdirSync(join(packages, NAME), { recursive: true });
  const unpack = [
    '-xzf',
    join(application, report.filename),
    '-C',
    join(packages, NAME),
    '--strip-components=1',
  ];
  if (!system.run('tar', unpack)) throw new Error('tar failed; its output above says why');
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const peer of Object.keys(peerDependencies))
    link(join(root, 'node_modules', peer), join(packages, peer));
}

/**
 * @param {string} folder of an installed package
 * @param {string} at
 */
function link(folder, at) {
  if (!existsSync(folder)) return;
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(folder, at, 'dir');
}
