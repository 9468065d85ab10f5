import { hostname } from 'node:os';

/** What this instance is called in orders and on the page. */
export const INSTANCE_NAME = process.env.INSTANCE_NAME ?? hostname();
