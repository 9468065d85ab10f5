import { builtIn } from './built-in.js';

/** Another build: in the directory that `BENCH_BEFORE` names. */
export const contestant = builtIn(process.env['BENCH_BEFORE'] ?? '', 'build-before');
