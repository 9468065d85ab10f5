import { builtIn, HERE } from './built-in.js';

/** The build of this working copy once more: how far apart two runs of one thing are. */
export const contestant = builtIn(HERE, 'build-again');
