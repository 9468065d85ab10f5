import { builtIn, HERE } from './built-in.js';

/** The build of this working copy. */
export const contestant = builtIn(HERE, 'build-now');
