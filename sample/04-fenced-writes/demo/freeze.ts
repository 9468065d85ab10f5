import type { Knex } from 'knex';

/** When a worker freezes: with the balance in its hands, or with its next statement on the way to the database. */
export type Moment = 'after reading' | 'before writing';

/**
 * Stops this process by SIGSTOP, once, as a paused container, a swapping host or a debugger does: between two
 * instructions, with no chance to notice.
 *
 * @param announce - Called right before.
 */
export function freezeAt(knex: Knex, moment: Moment, announce: () => void): void {
  const freeze = (): void => {
    announce();
    process.kill(process.pid, 'SIGSTOP');
  };
  if (moment === 'after reading') knex.once('query-response', freeze);
  // The first query reads the balance; the second one begins the transaction that writes.
  else knex.once('query', () => knex.once('query', freeze));
}
