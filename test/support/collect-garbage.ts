import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage at once, also without the flag `--expose-gc`. */
export const collectGarbage = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
