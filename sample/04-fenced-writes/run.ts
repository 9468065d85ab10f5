import { Backends } from '../support/backends.js';
import { Database } from '../support/database/database.js';
import { runSample } from '../support/run-sample.js';
import { BankBooks } from './demo/bank-books.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { DepositWorker } from './demo/deposit-worker.js';
import { GUARDS, table } from './demo/report.js';
import { takeOver, type TakeOver, type TakeOverResult } from './demo/take-over.js';

const TAKE_OVERS: readonly TakeOver[] = [
  { guard: 'locked', frozen: 'after reading' },
  { guard: 'checked', frozen: 'after reading' },
  { guard: 'checked', frozen: 'before writing' },
  { guard: 'fenced', frozen: 'before writing' },
];

/** Lets one worker after the other wake up too late. Resolves to whether the fencing token kept the late write out. */
async function run({ json, lease }: RunOptions, interruption: AbortSignal): Promise<boolean> {
  await using backends = await Backends.start('fenced-writes');
  const env = { ...backends.env, LEASE: `${lease}` };
  await using database = new Database(env.DATABASE_URL);
  const books = await BankBooks.open(database);
  await using first = new DepositWorker(env, interruption);
  await using second = new DepositWorker(env, interruption);

  const tell = (line: string): void => void (json || console.log(line));
  tell('An account with 100. Worker 1 books 10 and is frozen, worker 2 books 50, worker 1 wakes up.');
  const results: TakeOverResult[] = [];
  for (const each of TAKE_OVERS) {
    tell(`\nWith ${GUARDS[each.guard]}:`);
    const result = await takeOver({ first, second }, books, each, ({ worker, what, token }) =>
      tell(`  worker ${worker} ${what}${token === undefined ? '' : `, token ${token}`}`),
    );
    results.push(result);
  }
  tell(`\n${table(results)}`);
  if (json) console.log(JSON.stringify({ results }));
  return results.every(({ guard, lost }) => guard !== 'fenced' || lost === 0);
}

void runSample(COMMAND_LINE, run);
