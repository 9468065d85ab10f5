import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '/usr/lib';

/** The library that fakes the time of a process, or undefined where there is none. */
export const FAKETIME = (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
  .map((system) => join(FOLDER, system, 'faketime/libfaketimeMT.so.1'))
  .find((file) => existsSync(file));

/** Variables with which a program sees another time of day: `+3600s` is an hour ahead, `+0 x2` passes twice as fast. */
export function faketimeVariables(shift: string): NodeJS.ProcessEnv {
  return { LD_PRELOAD: FAKETIME, FAKETIME: shift, DONT_FAKE_MONOTONIC: '1' };
}
