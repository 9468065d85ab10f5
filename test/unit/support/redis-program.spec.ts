import { provideRedisProgram } from '../../../tools/setup/redis-program.mjs';
import type { System } from '../../../tools/setup/system.mjs';

const VERSION = 'Redis server v=7.2.4 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64';
const BUILT = '/clone/.cache/redis/redis-server';

/** A machine that has some programs and on which some installations succeed. */
class PretendedSystem implements System {
  readonly ran: string[] = [];
  readonly said: string[] = [];
  readonly links: string[][] = [];
  isRoot = true;
  env: NodeJS.ProcessEnv = {};
  programs: Record<string, string> = { 'apt-get': 'apt 2.6.1' };
  /** What a successful `apt-get install` brings. */
  debianHas: string | undefined;
  /** Whether the source can be downloaded and compiled. */
  canBuild = false;

  run(program: string, args: string[]): boolean {
    this.ran.push([program, args[0]].join(' '));
    if (program === 'npm') return this.canBuild;
    if (args[0] === 'install' && this.debianHas) this.programs['redis-server'] = this.debianHas;
    return args[0] === 'update' || this.debianHas !== undefined;
  }

  read(program: string, args: string[]): string | undefined {
    if (args[0] !== '-e') return this.programs[program];
    if (!this.canBuild) return undefined;
    this.programs[BUILT] = VERSION;
    return `Download: 50%\nDownload: 100%\n\n${BUILT}`;
  }

  link(program: string, at: string): void {
    this.links.push([program, at]);
  }

  say(line: string): void {
    this.said.push(line);
  }
}

describe('provideRedisProgram', () => {
  let system: PretendedSystem;
  const provide = () => provideRedisProgram('/clone', system);

  beforeEach(() => {
    system = new PretendedSystem();
  });

  it('installs nothing if redis-server is on PATH', () => {
    system.programs['redis-server'] = VERSION;
    provide();

    expect([system.ran, system.said]).toEqual([[], []]);
  });

  it('takes the program that REDIS_SERVER names', () => {
    system.env['REDIS_SERVER'] = '/opt/valkey-server';
    system.programs['/opt/valkey-server'] = 'Valkey server v=8.0.1 sha=00000000:0';
    provide();

    expect(system.ran).toEqual([]);
  });

  it('refuses a REDIS_SERVER that does not run, rather than using another', () => {
    system.env['REDIS_SERVER'] = '/opt/missing';
    system.programs['redis-server'] = VERSION;

    expect(provide).toThrow('REDIS_SERVER names /opt/missing');
    expect(system.ran).toEqual([]);
  });

  it.each([
    ['installs the package of Debian as root', true, ['apt-get update', 'apt-get install']],
    ['does not try apt-get without being root', false, ['npm install']],
  ])('%s', (_, isRoot, ran) => {
    Object.assign(system, { isRoot, debianHas: VERSION, canBuild: true });
    provide();

    expect(system.ran).toEqual(ran);
  });

  it('builds Redis if the package is too old, and puts it on the PATH of npm scripts', () => {
    system.debianHas = 'Redis server v=6.0.16 sha=00000000:0';
    system.canBuild = true;

    provide();

    expect(system.ran).toEqual(['apt-get update', 'apt-get install', 'npm install']);
    expect(system.links).toEqual([[BUILT, '/clone/node_modules/.bin/redis-server']]);
  });

  it('says what to install if nothing worked', () => {
    expect(provide).toThrow(/apt-get install redis-server, or brew install redis.*REDIS_SERVER/);
  });
});
