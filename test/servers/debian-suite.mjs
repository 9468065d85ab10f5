import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('../../tools/setup/system.mjs').System} System */

const KEYS = '/usr/share/keyrings/debian-archive-keyring';
/** It has had both endings. */
const KEYRING = existsSync(`${KEYS}.pgp`) ? `${KEYS}.pgp` : `${KEYS}.gpg`;

/** A server, its tools, and the libraries that they load; not what sets up a system around them. */
const PART_OF_A_SERVER = /^(lib|redis-|valkey-)/;
const NO_OTHER_RELATIONS = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];

/**
 * Another suite of Debian than the one that this machine runs: its packages are unpacked into a folder, and run there
 * with the libraries of that suite.
 *
 * The system's own apt fetches and checks them, signature and checksums, with lists and caches in that folder only.
 */
export class DebianSuite {
  /**
   * @param {{ suite: string, over?: string }} source `over` is a suite that has what `suite` lacks
   * @param {string} root a folder for it
   * @param {Pick<System, 'read' | 'run'>} system
   */
  constructor({ suite, over }, root, system) {
    this.suite = suite;
    this.over = over;
    this.root = root;
    this.system = system;
  }

  /**
   * Reads the suite's package lists; where that fails, those of the last time stay.
   *
   * @returns whether they are of now
   * @throws Error on a system without Debian's archive
   */
  refresh() {
    const mirror = mirrorOf(this.system);
    if (mirror === undefined) throw new Error('apt here knows no archive of Debian');
    for (const folder of ['lists/partial', 'cache/archives/partial', 'parts']) {
      mkdirSync(join(this.root, folder), { recursive: true });
    }
    const suites = this.over === undefined ? [this.suite] : [this.suite, this.over];
    const sources = suites.map((suite) => `deb [signed-by=${KEYRING}] ${mirror} ${suite} main\n`);
    writeFileSync(join(this.root, 'sources.list'), sources.join(''));
    writeFileSync(join(this.root, 'status'), '');
    writeFileSync(
      join(this.root, 'preferences'),
      `Package: redis-* valkey-*\nPin: release a=${this.suite}\nPin-Priority: 990\n`,
    );
    return this.#apt('apt-get', ['-qq', 'update']);
  }

  /**
   * Unpacks a server, unless it is there.
   *
   * @param {string} name of the package and of its program
   * @returns {string} a program that runs it
   * @throws Error when the suite has none or it cannot be fetched
   */
  provide(name) {
    const version = this.#ask('apt-cache', ['show', '--no-all-versions', name])?.match(
      /^Version: (.+)$/m,
    )?.[1];
    if (version === undefined) throw new Error(`no ${name} in Debian’s ${this.suite}, or no list of it`);
    const folder = join(this.root, `${name}_${encodeURIComponent(version)}`);
    if (!existsSync(folder)) this.#unpack(name, folder);
    return join(folder, name);
  }

  /**
   * @param {string} name
   * @param {string} folder
   */
  #unpack(name, folder) {
    const scratch = mkdtempSync(join(this.root, 'unpacking-'));
    try {
      const [packages, files] = ['packages', 'files'].map((part) => join(scratch, part));
      if (packages === undefined || files === undefined) return;
      mkdirSync(packages);
      const fetched = this.#apt('apt-get', ['-qq', 'download', ...this.#closure(name)], packages);
      if (!fetched) throw new Error(`${name} of Debian’s ${this.suite} could not be fetched`);
      for (const file of readdirSync(packages)) {
        if (!this.system.run('dpkg-deb', ['--extract', join(packages, file), files], {})) {
          throw new Error(`dpkg-deb could not unpack ${file}`);
        }
      }
      writeFileSync(join(files, name), launcher(name, files), { mode: 0o755 });
      renameSync(files, folder);
    } finally {
      rmSync(scratch, { recursive: true });
    }
  }

  /**
   * @param {string} name
   * @returns {ReadonlySet<string>} the packages that it needs to run
   */
  #closure(name) {
    const closure = new Set([name]);
    const options = NO_OTHER_RELATIONS.map((relation) => `--no-${relation}`);
    // A set goes on to what is added meanwhile.
    for (const each of closure) {
      const lines = this.#ask('apt-cache', ['depends', ...options, each]) ?? '';
      for (const [, needed] of lines.matchAll(/^[ |]*(?:Pre)?Depends: (\S+)$/gm)) {
        if (needed !== undefined && PART_OF_A_SERVER.test(needed)) closure.add(needed);
      }
    }
    return closure;
  }

  /**
   * @param {string} program
   * @param {readonly string[]} args
   * @param {string} [cwd]
   */
  #apt(program, args, cwd = this.root) {
    return this.system.run(program, [...this.#options(), ...args], { cwd });
  }

  /**
   * @param {string} program
   * @param {readonly string[]} args
   */
  #ask(program, args) {
    return this.system.read(program, [...this.#options(), ...args]);
  }

  #options() {
    const settings = {
      'Dir::Etc::sourcelist': join(this.root, 'sources.list'),
      'Dir::Etc::sourceparts': join(this.root, 'parts'),
      'Dir::Etc::preferences': join(this.root, 'preferences'),
      'Dir::Etc::preferencesparts': join(this.root, 'parts'),
      'Dir::State::lists': join(this.root, 'lists'),
      'Dir::State::status': join(this.root, 'status'),
      'Dir::Cache': join(this.root, 'cache'),
      // Images for containers switch these off; then each question reads all lists again.
      'Dir::Cache::pkgcache': join(this.root, 'cache/pkgcache.bin'),
      'Dir::Cache::srcpkgcache': join(this.root, 'cache/srcpkgcache.bin'),
      'Acquire::Languages': 'none',
      'Acquire::Retries': '3',
      'APT::Update::Error-Mode': 'any',
      // The folder belongs to whoever runs this, so no other user could write there.
      'APT::Sandbox::User': '',
    };
    return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }
}

/**
 * Where this system gets its packages, as its own sources say.
 *
 * @param {Pick<System, 'read'>} system
 */
function mirrorOf(system) {
  const format = ['--format', '$(REPO_URI) $(COMPONENT) $(ORIGIN)', 'Created-By: Packages'];
  const targets = (system.read('apt-get', ['indextargets', ...format]) ?? '').split('\n');
  return targets
    .map((target) => target.split(' '))
    .find(([uri = '', component, origin]) => {
      // A system that has fetched no list yet does not know the origin.
      const isDebian = origin === 'Debian' || origin === '$(ORIGIN)';
      return isDebian && component === 'main' && /\/debian\/?$/.test(uri);
    })?.[0];
}

/**
 * A script that starts the server by the dynamic loader that came with it: this system's C library may be too old.
 *
 * @param {string} name
 * @param {string} files
 */
function launcher(name, files) {
  const folders = ['lib', 'usr/lib'].flatMap((parent) => {
    const parts = existsSync(join(files, parent)) ? readdirSync(join(files, parent)) : [];
    return parts.filter((part) => part.includes('-linux-')).map((part) => `${parent}/${part}`);
  });
  const loader = folders
    .flatMap((folder) => readdirSync(join(files, folder)).map((file) => `${folder}/${file}`))
    .find((file) => /\/ld-linux[^/]*\.so\.\d+$/.test(file));
  if (loader === undefined) throw new Error(`the libraries of ${name} have no dynamic loader`);
  const libraries = folders.map((folder) => `$here/${folder}`).join(':');
  // Without a fork, so that a signal to this process reaches the server.
  return `#!/bin/sh
here=\${0%/*}
exec "$here/${loader}" --library-path "${libraries}" "$here/usr/bin/${name}" "$@"
`;
}
