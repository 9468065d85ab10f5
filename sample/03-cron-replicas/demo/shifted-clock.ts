import { travel } from 'timekeeper';

/**
 * Loaded into each instance before its own code: its clock is CLOCK_OFFSET milliseconds ahead of the machine's, or
 * behind. Everything in the process that asks for the date sees that, the scheduler included.
 */
travel(Date.now() + Number(process.env.CLOCK_OFFSET ?? 0));
