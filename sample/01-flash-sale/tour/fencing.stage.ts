import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { ACCOUNTS } from '../../04-fenced-writes/accounts/tables.js';
import { BankBooks } from '../../04-fenced-writes/demo/bank-books.js';
import { DepositWorker } from '../../04-fenced-writes/demo/deposit-worker.js';
import { takeOver, type TakeOverResult } from '../../04-fenced-writes/demo/take-over.js';
import { LockWatch, type WatchedProcess } from '../page/lock-watch.js';
import { Streams } from '../page/streams.js';
import type { FencingGuard, FencingPicture, StageEvent } from './stage-picture.interface.js';
import { LEASE_ENV, Stage } from './stage.js';

const FROZEN = 'before writing';

/** Two writers of one account: the first is frozen until the second has written. */
@Injectable()
export class FencingStage extends Stage<FencingPicture> {
  private results: FencingPicture['results'] = {};
  private guard: FencingGuard = 'locked';
  private writers: readonly WatchedProcess[] = [];

  constructor(
    private readonly database: Database,
    watch: LockWatch,
    streams: Streams,
  ) {
    super(watch, streams);
  }

  /** @param signal - Kills both writers. */
  async run(guard: FencingGuard, signal: AbortSignal): Promise<void> {
    this.guard = guard;
    await this.record(async () => {
      const books = await BankBooks.open(this.database);
      await using first = new DepositWorker(LEASE_ENV, signal);
      await using second = new DepositWorker(LEASE_ENV, signal);
      this.writers = [first, second].map(({ pid }, i) => ({ name: `writer ${i + 1}`, pid }));
      const tokens: (number | undefined)[] = [];
      const result = await takeOver({ first, second }, books, { guard, frozen: FROZEN }, (event) => {
        if (event.token !== undefined) tokens[event.worker] = event.token;
        this.tell({ who: `writer ${event.worker}`, what: event.what, token: event.token });
      });
      this.tell(verdict(result, tokens[1]));
      this.results = { ...this.results, [guard]: result };
    });
  }

  protected async take(): Promise<FencingPicture> {
    const { guard, results } = this;
    const id = `${guard}, frozen ${FROZEN}`;
    const [stage, row] = await Promise.all([
      this.look(`account:${id}`, this.writers),
      this.database.knex(ACCOUNTS).where({ id }).first('balance', 'fencing_token'),
    ]);
    const account = row ? { balance: row.balance, token: row.fencing_token } : null;
    return { ...stage, guard, results, account };
  }
}

function verdict({ first, balance, lost }: TakeOverResult, token: number | undefined): StageEvent {
  const who = 'account';
  if (lost > 0)
    return { who, token, what: `takes the late write: the ${lost} of writer 2 are lost`, verdict: 'bad' };
  const what = first === 'STALE_TOKEN' ? 'refuses the older token' : `has ${balance}`;
  return { who, token, what, verdict: 'good' };
}
