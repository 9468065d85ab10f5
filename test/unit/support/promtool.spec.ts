import { providePromtool } from '../../../tools/setup/promtool.mjs';
import type { System } from '../../../tools/setup/system.mjs';

/** A machine where promtool is on PATH, or comes with Debian's package, or cannot be had. */
function machine(promtool: 'present' | 'available' | 'unknown', isRoot = true) {
  const ran: string[][] = [];
  const said: string[] = [];
  const system: System = {
    env: {},
    isRoot,
    run: (...[, args]) => {
      ran.push(args);
      return promtool === 'available' || args[0] === 'update';
    },
    read: (program) => {
      if (program !== 'promtool') return 'apt 2.6.1';
      const isInstalled = ran.some(([command]) => command === 'install');
      return promtool === 'present' || (promtool === 'available' && isInstalled)
        ? 'promtool 2.42'
        : undefined;
    },
    link: () => {},
    say: (line) => said.push(line),
  };
  return { system, ran, said };
}

describe('providePromtool', () => {
  it('installs nothing where it is on PATH', () => {
    const { system, ran, said } = machine('present');
    providePromtool(system);
    expect([ran, said]).toEqual([[], []]);
  });

  it('installs the package of Debian that has it, as root', () => {
    const { system, ran, said } = machine('available');
    providePromtool(system);
    expect(ran.map((args) => [args[0], args.at(-1)])).toEqual([
      ['update', 'update'],
      ['install', 'prometheus'],
    ]);
    expect(said.join()).not.toContain('skipped');
  });

  it.each([
    ['where there is no such package', machine('unknown')],
    ['without being root', machine('available', false)],
  ])('says that tests are skipped %s, and fails nothing', (_where, { system, said }) => {
    providePromtool(system);
    expect(said.at(-1)).toContain('skipped');
  });
});
