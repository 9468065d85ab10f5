import Libsql from 'libsql';

/** Milliseconds that a writer waits for another one, which may be stopped. */
const BUSY_TIMEOUT = 30_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS runs (
    name TEXT NOT NULL, token INTEGER NOT NULL, process TEXT NOT NULL, finished REAL, settled REAL, outcome TEXT,
    PRIMARY KEY (name, token)
  );
  CREATE TABLE IF NOT EXISTS answers (
    lane TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER, called REAL NOT NULL,
    PRIMARY KEY (lane, number)
  );
  CREATE INDEX IF NOT EXISTS answersByName ON answers (name);
`;

/** What a caller received: the token of the run whose result it is. */
interface Answer {
  /** The loop that called, over all processes that continue it. */
  readonly lane: string;
  readonly number: number;
  readonly name: string;
  readonly value: number;
  readonly called: number;
}

/** The effects of all runs and the answers of all calls, in SQLite: a killed process leaves what it has written. */
export class OnceJournal implements Disposable {
  private readonly database: Libsql.Database;

  constructor(file: string) {
    this.database = new Libsql(file, { timeout: BUSY_TIMEOUT });
    this.database.pragma('journal_mode = WAL');
    this.database.pragma('synchronous = NORMAL');
    this.database.exec(SCHEMA);
  }

  begin(name: string, token: number, process: string): void {
    this.write('INSERT INTO runs (name, token, process) VALUES (?, ?, ?)', name, token, process);
  }

  /** Notes the effect of a run. */
  finish(name: string, token: number, at: number): void {
    this.write('UPDATE runs SET finished = ? WHERE name = ? AND token = ?', at, name, token);
  }

  /** Notes how the call of a run ended: `kept`, or the code of its error. */
  settle(name: string, token: number, outcome: string, at: number): void {
    const set = 'UPDATE runs SET outcome = ?, settled = ? WHERE name = ? AND token = ?';
    this.write(set, outcome, at, name, token);
  }

  answer({ lane, number, name, value, called }: Answer): void {
    this.write('INSERT INTO answers VALUES (?, ?, ?, ?, ?)', lane, number, name, value, called);
  }

  /** The first number of a lane that has no answer. */
  next(lane: string): number {
    return this.number('SELECT coalesce(max(number), -1) + 1 AS count FROM answers WHERE lane = ?', lane);
  }

  /** How many calls have an answer, of names that begin so. */
  answersTo(beginning: string): number {
    return this.number('SELECT count(*) AS count FROM answers WHERE name LIKE ?', `${beginning}%`);
  }

  get effects(): number {
    return this.number('SELECT count(*) AS count FROM runs WHERE finished IS NOT NULL');
  }

  /** The result of each name that begins so. */
  results(beginning: string): { readonly name: string; readonly value: number }[] {
    return this.rows(
      'SELECT name, min(value) AS value FROM answers WHERE name LIKE ? GROUP BY name',
      `${beginning}%`,
    );
  }

  /** Names with different results within one `keep`, and results of no finished run. */
  problems(once: string, repeated: string, keep: number, killed: ReadonlySet<string>): string[] {
    const find = (what: string, sql: string, ...args: unknown[]): string[] =>
      this.rows<{ name: string }>(sql, ...args).map((row) => `${what}: ${JSON.stringify(row)}`);
    const unsettled = this.rows<{ name: string; token: number; process: string }>(
      'SELECT name, token, process FROM runs WHERE outcome IS NULL',
    ).filter(({ process }) => !killed.has(process));
    return [
      ...unsettled.map((row) => `a run of a live process has no end: ${JSON.stringify(row)}`),
      ...find(
        'callers received different results',
        'SELECT name, count(DISTINCT value) AS results FROM answers WHERE name LIKE ? GROUP BY name HAVING results > 1',
        `${once}%`,
      ),
      ...find(
        'two runs succeeded',
        "SELECT name, count(*) AS runs FROM runs WHERE outcome = 'kept' AND name LIKE ? GROUP BY name HAVING runs > 1",
        `${once}%`,
      ),
      ...find(
        'the result is that of no finished run',
        `SELECT answers.name, value FROM answers LEFT JOIN runs ON runs.name = answers.name AND token = value
           WHERE finished IS NULL`,
      ),
      ...find(
        'a successful run is not the result',
        `SELECT answers.name, value, token FROM answers JOIN runs ON runs.name = answers.name
           WHERE outcome = 'kept' AND token <> value AND answers.name LIKE ?`,
        `${once}%`,
      ),
      ...find(
        'a run ended with another error',
        "SELECT * FROM runs WHERE outcome NOT IN ('kept', 'failed', 'LOCK_LOST', 'LOCK_UNAVAILABLE')",
      ),
      ...find(
        'two runs succeeded within keep',
        `SELECT a.name, a.token, b.token AS other, b.settled - a.finished AS apart
           FROM runs a JOIN runs b ON a.name = b.name AND a.token < b.token
           WHERE a.outcome = 'kept' AND b.outcome = 'kept' AND a.name LIKE ? AND apart < ?`,
        `${repeated}%`,
        keep - 1,
      ),
      ...find(
        'an expired result was shared',
        `SELECT answers.name, value, called - settled AS late FROM answers JOIN runs
           ON runs.name = answers.name AND token = value
           WHERE outcome = 'kept' AND answers.name LIKE ? AND late > ?`,
        `${repeated}%`,
        keep + 1,
      ),
    ];
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  private write(sql: string, ...args: unknown[]): void {
    this.database.prepare(sql).run(...args);
  }

  private number(sql: string, ...args: unknown[]): number {
    return this.rows<{ count: number }>(sql, ...args)[0]?.count ?? 0;
  }

  private rows<Row>(sql: string, ...args: unknown[]): Row[] {
    return this.database.prepare(sql).all(...args) as Row[];
  }
}
