import type { CredentialsProvider, LockCredentials } from '../../../options/module-options.interface.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { within } from '../../../primitives/answer-within.js';
import { unlessAborted } from '../../../primitives/abandonment.js';
import { inRootContext } from '../../../primitives/root-context.js';
import type { Redaction } from './redaction.js';

/** Maximum milliseconds of a provider's call. */
const TIMEOUT = 10_000;
/** Milliseconds until a failed provider is called again: at first, and at most. */
const BACK_OFF = { first: 100, last: 5_000 };
/** Share of the credentials' lifetime after which new ones are requested. */
const RENEWED_AFTER = 0.8;
/** Minimum milliseconds between two renewals. */
const SHORTEST_LIFE = 500;
/** The longest delay that a Node timer takes. */
const LONGEST_DELAY = 2_147_483_647;

export interface CredentialsUser {
  /** Uses them for the next connection. */
  adopt(credentials: LockCredentials): void;
  /** Authenticates the open connection with them. Rejects if the server rejects them. */
  renew(): Promise<void>;
}

/** Requests credentials from a provider: before each connection, and again before they expire. */
export class Credentials {
  private readonly users = new Set<CredentialsUser>();
  private asking: Promise<LockCredentials> | undefined;
  private renewal: NodeJS.Timeout | undefined;
  private renewalDue = Infinity;
  private failures = 0;
  private readonly closed = new AbortController();
  private problem: { readonly error: Error; readonly of: 'provider' | 'server' } | undefined;
  private known: LockCredentials | undefined;

  constructor(
    private readonly provide: CredentialsProvider,
    private readonly redaction: Redaction,
    private readonly log: LockLog,
  ) {}

  /** The error of the last call; undefined after a success. */
  get trouble(): Error | undefined {
    return this.problem?.error;
  }

  add(user: CredentialsUser): () => void {
    this.users.add(user);
    if (this.known) user.adopt(this.known);
    return () => this.users.delete(user);
  }

  /**
   * Requests credentials for a new connection. Retries until the provider succeeds; rejects when this object is closed.
   */
  ask(): Promise<LockCredentials> {
    this.asking ??= this.askUntilGiven().finally(() => (this.asking = undefined));
    return this.asking;
  }

  close(): void {
    this.closed.abort(new Error('The connection was closed.'));
    clearTimeout(this.renewal);
  }

  private async askUntilGiven(): Promise<LockCredentials> {
    for (;;) {
      this.closed.signal.throwIfAborted();
      try {
        const credentials = await unlessAborted(
          inRootContext(() => askOnce(this.provide)),
          this.closed.signal,
        );
        this.closed.signal.throwIfAborted();
        this.accept(credentials);
        return credentials;
      } catch (error) {
        this.closed.signal.throwIfAborted();
        this.fail(error, 'provider');
        await unlessAborted(sleep(this.backOff), this.closed.signal);
      }
    }
  }

  private accept(credentials: LockCredentials): void {
    const { expiresAt } = credentials;
    this.redaction.learn([credentials]);
    this.known = credentials;
    for (const user of this.users) user.adopt(credentials);
    this.end('provider');
    if (expiresAt === undefined) return;
    const life = (Number(expiresAt) - Date.now()) * RENEWED_AFTER;
    this.renewIn(Math.max(SHORTEST_LIFE, life));
  }

  /** Schedules a renewal, no later than the planned one: open connections may have older credentials. */
  private renewIn(delay: number): void {
    const due = Date.now() + Math.min(delay, LONGEST_DELAY);
    if (due >= this.renewalDue || this.closed.signal.aborted) return;
    clearTimeout(this.renewal);
    this.renewalDue = due;
    this.renewal = setTimeout(() => void this.renew(), due - Date.now()).unref();
  }

  private async renew(): Promise<void> {
    this.renewalDue = Infinity;
    // `ask` rejects when this object is closed.
    await this.ask().catch(() => undefined);
    if (this.closed.signal.aborted) return;
    const renewed = await Promise.allSettled([...this.users].map((user) => user.renew()));
    const refused = renewed.find((each) => each.status === 'rejected');
    if (!refused) return this.end('server');
    this.fail(refused.reason, 'server');
    this.renewIn(this.backOff);
  }

  private get backOff(): number {
    return Math.min(BACK_OFF.first * 2 ** (this.failures - 1), BACK_OFF.last);
  }

  private fail(error: unknown, of: 'provider' | 'server'): void {
    this.failures += 1;
    const problem = this.redaction.error(error);
    const isKnown = this.problem?.error.message === problem.message;
    this.problem = { error: problem, of };
    if (isKnown) return;
    this.log.error(`The credentials of Redis cannot be renewed; retrying: ${problem.message}`);
  }

  private end(of: 'provider' | 'server'): void {
    if (this.problem?.of !== of) return;
    this.failures = 0;
    this.problem = undefined;
    this.log.log('The credentials of Redis can be renewed again.');
  }
}

async function askOnce(provide: CredentialsProvider): Promise<LockCredentials> {
  const credentials: unknown = await within<unknown>(TIMEOUT, provide(), () => {
    throw new Error(`The function credentials did not answer within ${TIMEOUT} ms.`);
  });
  assertCredentials(credentials);
  return credentials;
}

/** Validates credentials; its messages do not contain values. */
function assertCredentials(credentials: unknown): asserts credentials is LockCredentials {
  const { username, password, expiresAt } = Object(credentials) as Record<keyof LockCredentials, unknown>;
  const isTime = typeof expiresAt === 'number' || expiresAt instanceof Date;
  const wrong =
    (typeof password !== 'string' && 'password') ||
    (username !== undefined && typeof username !== 'string' && 'username') ||
    (expiresAt !== undefined && !(isTime && Number.isFinite(Number(expiresAt))) && 'expiresAt');
  if (wrong === false) return;
  throw new Error(
    'The function credentials must resolve to { username?: string, password: string, expiresAt?: Date | number }, ' +
      `but ${wrong} is not.`,
  );
}

function sleep(delay: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delay).unref());
}
