import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { providePackage } from '../../tools/setup/package.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';
import { importedPackages } from './imported-packages.mjs';

/**
 * @typedef {object} EntryPoint a path that users can import
 * @property {string} specifier
 * @property {readonly string[]} packages what its code and its types import
 */

/** Peers of which an application has one, whatever entry points it uses: none is loaded before it is needed. */
const CLIENTS = ['ioredis', 'redis', '@redis/client'];

/** The packed package, and what its package.json promises. */
export class PackageUnderTest {
  /**
   * @param {string} tarball
   * @param {string} directory the tarball unpacked
   */
  constructor(tarball, directory) {
    this.tarball = tarball;
    this.directory = directory;
    const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const { peerDependencies: peers, peerDependenciesMeta: meta = {} } = manifest;
    const isOptional = (/** @type {string} */ name) => meta[name]?.optional === true;
    /** @type {readonly string[]} */
    this.peers = Object.keys(peers);
    /** @type {readonly string[]} */
    this.neededPeers = this.peers.filter((name) => !isOptional(name));
    /** @type {Record<string, string>} name and allowed versions, but for clients */
    this.optionalPeers = Object.fromEntries(
      Object.entries(peers).filter(([name]) => isOptional(name) && !CLIENTS.includes(name)),
    );
    /** @type {readonly EntryPoint[]} */
    this.entryPoints = Object.entries(manifest.exports)
      .filter(([, conditions]) => typeof conditions === 'object')
      .map(([path, conditions]) => ({
        specifier: `nest-redis-lock${path.slice(1)}`,
        packages: filesOf(conditions).flatMap((file) => packagesBehind(join(directory, file))),
      }));
    /** @type {string} the oldest Node that it allows, `20.19` */
    this.oldestNode = /\d+\.\d+/.exec(manifest.engines.node)?.[0] ?? '';
  }

  /**
   * Packs what is in dist.
   *
   * @param {string} root of the repository
   */
  static pack(root) {
    const { tarball, directory } = providePackage(root, thisSystem(root));
    return new PackageUnderTest(tarball, directory);
  }

  /**
   * The entry points that work in an application, and those that need an optional peer which it does not have.
   *
   * @param {{ optionalPeers: boolean }} kind
   */
  entryPointsIn({ optionalPeers }) {
    const installed = optionalPeers ? this.peers : [...this.neededPeers, ...CLIENTS];
    const works = ({ packages }) => packages.every((name) => installed.includes(name));
    return {
      usable: this.entryPoints.filter(works),
      lacking: this.entryPoints.filter((each) => !works(each)),
    };
  }
}

/**
 * Every file that the conditions of an entry point lead to.
 *
 * @param {string | object} conditions
 * @returns {string[]}
 */
function filesOf(conditions) {
  return typeof conditions === 'string' ? [conditions] : Object.values(conditions).flatMap(filesOf);
}

/** @param {string} file */
function packagesBehind(file) {
  return [...importedPackages(file)];
}
