import { CombinedLock } from '../../engine/hold/combined-lock.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import { formatResult, parseResult } from './result.js';

/** The result of another run. */
export class SharedResult {
  constructor(private readonly json: string) {}

  /** A copy for one caller. */
  copy(): unknown {
    return parseResult(this.json);
  }
}

/** What a lock of a run uses of the calls of its instance. */
export interface RunSettings {
  readonly maxResult: number;
  /** Keeps a result and shares it. */
  keep(json: string): Promise<void>;
  /** Called at the end of the run. */
  end(): void;
  /** Called once, when the result is kept, or when the lock is released without. */
  publish(outcome: 'ran' | 'failed'): void;
}

/** The lock of a run, which keeps the result. */
export class OnceLock extends CombinedLock {
  private json: string | undefined;
  private isPublished = false;

  constructor(
    private readonly hold: ReusableLock,
    private readonly settings: RunSettings,
  ) {
    super([hold]);
  }

  /** Begins a further run under this lock: the result of an earlier one is not kept. */
  begin(): void {
    this.json = undefined;
  }

  /**
   * Notes the result of the run, which {@link keepResult} keeps.
   *
   * @throws LockConfigError for a result that cannot be kept.
   */
  note(result: unknown): void {
    this.json = formatResult(result, this.hold.keys[0] ?? '', this.settings.maxResult);
  }

  /** Keeps the noted result, if there is one. */
  async keepResult(): Promise<void> {
    const { json } = this;
    if (json === undefined) return;
    this.json = undefined;
    this.assertNotLost();
    this.settings.end();
    await this.settings.keep(json);
    this.publish('ran');
  }

  override async release(): Promise<void> {
    this.settings.end();
    this.publish('failed');
    await super.release();
  }

  private publish(outcome: 'ran' | 'failed'): void {
    if (this.isPublished) return;
    this.isPublished = true;
    this.settings.publish(outcome);
  }
}
