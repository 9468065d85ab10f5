import { instanceCalled } from '../simulation/instance-called.js';

/** The names of the instances, and those of the locks. */
export const INSTANCES = ['a', 'b', 'c'].map(instanceCalled);
export const NAMES = ['n', 'm'];
/** Milliseconds of every lease. */
export const TTL = 100;
/** Longest wait of a caller, and longest wait without an answer. */
export const WAIT = 350;
/** How long the result of a run is kept. */
export const KEEP = 100_000;
