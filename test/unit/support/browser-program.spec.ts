import { provideBrowserProgram } from '../../../tools/setup/browser-program.mjs';
import type { System } from '../../../tools/setup/system.mjs';

const VERSION = 'Chromium 150.0.7871.100 built on Debian';

/** A machine on which some programs run, and apt-get installs some. */
class PretendedSystem implements System {
  readonly ran: string[] = [];
  readonly said: string[] = [];
  readonly programs = new Map([['apt-get', 'apt 2.6.1']]);
  isRoot = true;
  env: NodeJS.ProcessEnv = {};
  debianHas = new Map<string, string>();

  run(program: string, args: string[]): boolean {
    this.ran.push(`${program} ${args[0]}`);
    if (args[0] !== 'install') return true;
    const name = String(args.at(-1));
    const version = this.debianHas.get(name);
    if (version !== undefined) this.programs.set(name, version);
    return version !== undefined;
  }

  read(program: string): string | undefined {
    return this.programs.get(program);
  }

  link(): void {}

  say(line: string): void {
    this.said.push(line);
  }
}

describe('provideBrowserProgram', () => {
  let system: PretendedSystem;
  const provide = () => provideBrowserProgram(system);

  beforeEach(() => {
    system = new PretendedSystem();
  });

  it.each(['chromium', 'chromium-browser', 'google-chrome'])(
    'installs nothing where %s is on PATH',
    (name) => {
      system.programs.set(name, VERSION);

      provide();

      expect([system.ran, system.said]).toEqual([[], []]);
    },
  );

  it('takes the program that CHROMIUM names', () => {
    system.env['CHROMIUM'] = '/opt/chromium';
    system.programs.set('/opt/chromium', VERSION);

    provide();

    expect([system.ran, system.said]).toEqual([[], []]);
  });

  it('refuses a CHROMIUM that does not run, rather than using another', () => {
    system.env['CHROMIUM'] = '/opt/missing';
    system.programs.set('chromium', VERSION);

    expect(provide).toThrow('CHROMIUM names /opt/missing');
  });

  it('installs the package of Debian as root', () => {
    system.debianHas.set('chromium', VERSION);

    provide();

    expect(system.ran).toEqual(['apt-get update', 'apt-get install']);
    expect(system.said.join()).not.toContain('skipped');
  });

  it('says that tests are skipped where it cannot install, and fails nothing', () => {
    system.isRoot = false;

    provide();

    expect(system.ran).toEqual([]);
    expect(system.said.join()).toMatch(/no Chromium, so the tests of pages are skipped/);
  });
});
