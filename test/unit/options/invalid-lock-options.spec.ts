import { Locked, LockConfigError, Once } from '../../../lib/index.js';
import { resolveLeadOptions } from '../../../lib/options/lead-options.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import { resolveOnceOptions } from '../../../lib/options/once-options.js';

/** Where options of a lock are written. */
interface Taker {
  /** The options that it does not have. */
  readonly lacks?: readonly string[];
  /** What its messages have before the name of an option. */
  readonly path?: string;
  /** Whether its holds are always exclusive. */
  readonly isAlone?: boolean;
  readonly take: (options: object) => unknown;
}

const MODULE = resolveModuleOptions({});
const KEEP = { keep: '1h' } as const;
const TAKERS: Readonly<Record<string, Taker>> = {
  RedisLockModule: {
    lacks: ['signal', 'minHold', 'label', 'preset', 'mode', 'limit', 'permits'],
    take: (options) => resolveModuleOptions(options),
  },
  'a preset': {
    lacks: ['signal', 'label', 'preset'],
    path: 'presets.few.',
    take: (few) => resolveModuleOptions({ presets: { few } }),
  },
  'a call': { take: (options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options) },
  'once()': { isAlone: true, take: (options) => resolveOnceOptions(MODULE, { ...KEEP, ...options }) },
  'lead()': {
    lacks: ['wait', 'outageTimeout', 'reentrant', 'mode', 'limit', 'permits'],
    take: (options) => resolveLeadOptions(options),
  },
  '@Locked': { lacks: ['signal'], take: (options) => Locked('a', options) },
  '@Once': { isAlone: true, lacks: ['signal'], take: (options) => Once('a', { ...KEEP, ...options }) },
};

/** Invalid values of an option, and what the errors say. */
const INVALID: readonly (readonly [option: string, value: unknown, message: string])[] = [
  ['ttl', 9, 'must be a whole number of milliseconds from 10 to 2147483647, or text with a unit, such as'],
  ['ttl', Infinity, 'but is Infinity.'],
  ['ttl', 10.5, 'but is 10.5.'],
  ['ttl', Number.NaN, 'but is NaN.'],
  ['ttl', '30 sec', 'but is "30 sec".'],
  ['wait', -1, 'must be a number of milliseconds from 0 to 2147483647, or Infinity, or text with a unit'],
  ['wait', '-1s', 'but is "-1s".'],
  ['wait', Number.NaN, 'but is NaN.'],
  ['wait', null, 'but is null.'],
  ['outageTimeout', -1, 'but is -1.'],
  ['outageTimeout', Number.NaN, 'but is NaN.'],
  ['maxWaiters', 0, 'must be a whole number, 1 or more, but is 0.'],
  ['renew', 'yes', 'must be true or false, but is "yes".'],
  ['reentrant', 1, 'must be true or false, but is 1.'],
  ['maxHold', 0, 'must be a number of milliseconds from 1'],
  ['minHold', Infinity, 'must be a whole number of milliseconds from 0'],
  ['mode', 'read', "must be 'exclusive' or 'shared', but is \"read\"."],
  ['limit', 0, 'must be a whole number, 1 or more, but is 0.'],
  ['limit', 1.5, 'but is 1.5.'],
  ['permits', 0, 'must be a whole number, from 1 to 256, but is 0.'],
  ['permits', 1.5, 'but is 1.5.'],
  ['permits', 257, 'but is 257.'],
  ['label', '', 'must be 1 to 128 bytes of UTF-8 without control characters, but is "".'],
  ['label', 'é'.repeat(65), 'but is "éé'],
  ['label', 'two\nlines', String.raw`but is "two\nlines".`],
  ['label', 7, 'but is 7.'],
  ['preset', 5, 'must be the name of a preset, but is 5.'],
  ['signal', {}, 'must be an AbortSignal, but is an object (Object).'],
  ['signal', { aborted: false }, 'must be an AbortSignal, but is an object (Object).'],
  ['signal', new EventTarget(), 'must be an AbortSignal, but is an object (EventTarget).'],
  // As an AbortSignal of a package from before Node had it.
  ['signal', Object.assign(new EventTarget(), { aborted: false }), 'but is an object (EventTarget).'],
  ['replicas', 1, 'must be a plain object, but is 1.'],
  ['replicas', {}, '.min must be a whole number, 0 or more, but is undefined.'],
  ['replicas', { min: -1 }, '.min must be a whole number, 0 or more, but is -1.'],
  ['replicas', { min: 1, timeout: 0 }, '.timeout must be a whole number of milliseconds from 1 to'],
  ['replicas', { min: 1, timeOut: 5 }, 'replicas.timeout?'],
];

/** Options that are valid alone, and not together. */
const CONTRADICTIONS: readonly (readonly [options: object, message: string])[] = [
  [{ minHold: 20, maxHold: 10 }, 'minHold must be at most maxHold, but minHold is 20 and maxHold is 10.'],
  [{ mode: 'exclusive', limit: 5 }, "limit needs mode 'shared'"],
  [
    { mode: 'shared', limit: 2, permits: 3 },
    'permits must be at most limit, but permits is 3 and limit is 2',
  ],
  [{ mode: 'exclusive', permits: 2 }, "permits needs mode 'shared' and a limit"],
  [{ mode: 'shared', limit: Infinity, permits: 2 }, "permits needs mode 'shared' and a limit"],
];

const NO_MEANING = 'has no meaning for a call of once';

describe.each(Object.entries(TAKERS))(
  'the options of a lock, written in %s,',
  (_, { isAlone = false, lacks = [], path = '', take }) => {
    const saidOf = (option: string, message: string): string => {
      if (lacks.includes(option)) return 'There is no option';
      return isAlone && ['mode', 'limit', 'permits'].includes(option) ? NO_MEANING : message;
    };

    it.each(INVALID)('are rejected if %s is %p', (option, value, message) => {
      const resolve = (): unknown => take({ [option]: value });

      expect(resolve).toThrow(LockConfigError);
      expect(resolve).toThrow(path + option);
      expect(resolve).toThrow(saidOf(option, message));
    });

    it('are rejected if they do not exist, with the option that was meant', () => {
      for (const name of ['tll', 'duration'])
        expect(() => take({ [name]: 5_000 })).toThrow(
          `There is no option ${path}${name}. Did you mean ${path}ttl?`,
        );
      expect(() => take({ colour: 'red' })).toThrow(`There is no option ${path}colour. Known here: `);
    });

    it('may have the least ttl', () => {
      expect(() => take({ ttl: 10 })).not.toThrow();
    });

    // A campaign leaves minHold to its acquires, and a module has no minHold.
    if (!lacks.includes('mode'))
      it.each(isAlone ? CONTRADICTIONS.slice(0, 1) : CONTRADICTIONS)(
        'are rejected if they contradict each other: %j',
        (options, message) => {
          const resolve = (): unknown => take(options);

          expect(resolve).toThrow(LockConfigError);
          expect(resolve).toThrow(message);
        },
      );
  },
);

it('the label of a lock may have 128 bytes', () => {
  const label = 'é'.repeat(64);

  expect(resolveLockOptions(LOCK_OPTION_DEFAULTS, { label })).toMatchObject({ label });
});
