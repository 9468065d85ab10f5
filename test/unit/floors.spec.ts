import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const LIB = resolve(__dirname, '../../lib');

/** From the top to the ground: what stands on one floor uses that floor and those below it. */
const FLOORS: readonly (readonly string[])[] = [
  ['index.ts', 'testing', 'terminus', 'opentelemetry', 'inspector', 'node-redis', 'diagnostics/index.ts'],
  ['cli'],
  ['nest/module'],
  ['nest/startup'],
  ['nest/locked'],
  ['nest/exceptions'],
  ['nest/grpc'],
  ['service/open-lock-service.ts'],
  ['service/lock.service.ts', 'service/lock-service.token.ts'],
  ['service/acquire', 'service/leader', 'service/once'],
  ['service/reentrance', 'service/invocation'],
  ['engine/lock-engine.ts'],
  ['engine/queue'],
  ['engine/hold'],
  ['engine/lock-errors.ts'],
  ['store/open-store.ts', 'store/memory', 'store/quorum'],
  ['store/redis/redis.store.ts'],
  ['store/redis/cluster'],
  ['store/redis'],
  ['store/redis/connection', 'store/redis/ioredis', 'store/redis/node-redis'],
  ['store/scripts'],
  ['store'],
  [
    'options/module-options.ts',
    'options/lead-options.ts',
    'options/list-options.ts',
    'options/lock-options.ts',
    'options/once-options.ts',
    'options/option-table.ts',
    'options/presets.ts',
  ],
  ['options/connection'],
  ['options', 'diagnostics', 'keys'],
  ['errors', 'primitives'],
];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** The floor of a file of lib: that of its own name, or of the innermost folder that stands on one. */
function floorOf(file: string): number {
  for (let place = file; place !== '.'; place = dirname(place)) {
    const floor = FLOORS.findIndex((rooms) => rooms.includes(place));
    if (floor >= 0) return floor;
  }
  throw new Error(`lib/${file} stands on no floor: move it into a folder of ${FLOORS.flat().join(', ')}.`);
}

function sourceOf(file: string): string {
  return readFileSync(join(LIB, file), 'utf8');
}

function importsOf(file: string): Import[] {
  return [...sourceOf(file).matchAll(/\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g)].map(
    ([, named, dynamic]) => {
      const target = resolve(LIB, dirname(file), (named ?? dynamic ?? '').replace(/\.js$/, '.ts'));
      return { from: file, to: relative(LIB, target) };
    },
  );
}

/** What is wrong with an import, and where the file should live; undefined for one that points downwards. */
function problemOf({ from, to }: Import): string | undefined {
  const [user, used] = [floorOf(from), floorOf(to)];
  if (used >= user) return undefined;
  const below = FLOORS.slice(user)
    .flat()
    .filter((room) => !room.endsWith('.ts'));
  return (
    `lib/${from} imports lib/${to}, which stands ${user - used} floors above it. Move what both need to ` +
    `the floor of lib/${dirname(from)} or one below (${below.join(', ')}), or lib/${from} itself up to lib/${dirname(to)}.`
  );
}

const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

describe('The floors of lib', () => {
  it('hold: every import points to the same floor or one below', () => {
    const problems = files.flatMap(importsOf).flatMap((each) => problemOf(each) ?? []);

    expect(problems).toEqual([]);
  });

  it('name the right folder for an import that points upwards', () => {
    const problem = problemOf({ from: 'store/place.ts', to: 'engine/hold/hold.ts' });

    expect(problem).toContain(
      'lib/store/place.ts imports lib/engine/hold/hold.ts, which stands 8 floors above it.',
    );
    expect(problem).toContain('or lib/store/place.ts itself up to lib/engine/hold');
  });

  it('load NestJS and rxjs only above the command, which runs without them', () => {
    const top = floorOf('service/open-lock-service.ts');
    const loading = files.filter((file) =>
      /^import (?!type )[^;]*? from '(?:@nestjs\/|rxjs)/m.test(sourceOf(file)),
    );

    expect(loading.filter((file) => floorOf(file) >= top || file.startsWith('cli/'))).toEqual([]);
    expect(loading).toContain('nest/locked/lock.interceptor.ts');
  });

  it('have no empty room', () => {
    const places = new Set(files.flatMap((file) => [file, dirname(file), dirname(dirname(file))]));

    expect(FLOORS.flat().filter((room) => !places.has(room))).toEqual([]);
  });
});
