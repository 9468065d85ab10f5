import { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import { answerWithin, sleep } from '../../primitives/answer-within.js';
import type { Clock } from '../../primitives/clock.js';
import { listIn } from '../../primitives/try-to.js';
import type { LockInfo } from '../../store/lock-snapshot.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import { instanceOf, isInstance } from '../../store/owner-id.js';
import { withHolderLabel } from '../lock-errors.js';

/** A name and the owner id of one of its holders. */
export type HeldBy = Pick<LockInfo, 'name' | 'owner'>;

const QUESTION = /^asked (\S+) (\d+) (.*)$/s;
const ANSWER = /^labels (\d+) (.*)$/s;
/**
 * Milliseconds between repetitions of a request, because this instance may not listen yet; after the last one, the
 * request ends.
 */
const INTERVALS = [20, 40, 60];
/** Milliseconds without requests to an instance that has not answered: it is frozen, or ends. */
const SILENCE = 10_000;
const MAX_SILENT = 1_000;
const MAX_LENGTH = 128;

/**
 * Requests the labels of holds from the holders' instances. Only these instances store labels, so a label costs no
 * request, and is current even if the hold was passed on in memory.
 */
export class Labels {
  private readonly questions = new Map<number, (labels: readonly unknown[]) => void>();
  private readonly silent = new Map<string, number>();
  /** Requests in flight for callers that timed out: many of them share one. */
  private readonly asking = new Map<string, Promise<readonly (string | undefined)[]>>();
  private count = 0;

  /**
   * @param own the name of this instance
   * @param labelOf the label of a hold of this instance
   * @param intervals see {@link INTERVALS}
   */
  constructor(
    private readonly own: string,
    private readonly clock: Clock,
    private readonly store: LockStore,
    private readonly labelOf: (held: HeldBy) => string | undefined,
    private readonly intervals: readonly number[] = INTERVALS,
  ) {}

  /** Adds the label of each hold, if its instance replies soon. Never rejects. */
  async addTo(held: readonly LockInfo[]): Promise<LockInfo[]> {
    const labels = await this.of(held);
    return held.map((each, i) => (labels[i] === undefined ? each : { ...each, label: labels[i] }));
  }

  /** Resolves to the label of each hold, if its instance replies soon. Never rejects. */
  async of(holds: readonly HeldBy[]): Promise<(string | undefined)[]> {
    const { labels } = await this.ask(holds, (instance) => !this.isSilent(instance));
    return labels;
  }

  /**
   * Asks the instances of holds, also those that did not answer lately. Resolves to the labels, to the instances without
   * a reply, and to whether the store sent all questions. Never rejects.
   */
  async ask(
    holds: readonly HeldBy[],
    mayAsk: (instance: string) => boolean = () => true,
  ): Promise<{
    readonly labels: (string | undefined)[];
    readonly silent: ReadonlySet<string>;
    readonly isSent: boolean;
  }> {
    const labels = holds.map((held) => this.labelOf(held));
    const indexes = new Map<string, number[]>();
    const silent = new Set<string>();
    let isSent = true;
    holds.forEach(({ owner }, i) => {
      const instance = instanceOf(owner);
      if (labels[i] === undefined && this.canAsk(instance) && mayAsk(instance))
        indexes.set(instance, [...(indexes.get(instance) ?? []), i]);
    });
    const asking = [...indexes].map(async ([instance, own]) => {
      const question = own.flatMap((i) => holds[i] ?? []);
      // The caller's own request has already reported the problem.
      const answers = await this.question(instance, question).catch(() => {
        isSent = false;
        return [];
      });
      if (!answers) silent.add(instance);
      own.forEach((index, i) => {
        const label = answers?.[i];
        if (typeof label === 'string') labels[index] = label.slice(0, MAX_LENGTH);
      });
    });
    await Promise.all(asking);
    return { labels, silent, isSent };
  }

  /** Whether an error is a timeout whose holder lacks a label that can be requested. */
  canName(error: unknown): error is LockTimeoutError {
    if (!(error instanceof LockTimeoutError)) return false;
    const { label, owner } = error.holder ?? {};
    if (owner === undefined || label !== undefined) return false;
    const instance = instanceOf(owner);
    return this.canAsk(instance) && !this.isSilent(instance);
  }

  /** Copies a timeout with the holder's label. */
  async named(error: LockTimeoutError): Promise<LockTimeoutError> {
    const [name = ''] = error.keys;
    const owner = error.holder?.owner ?? '';
    const hold = `${owner} ${name}`;
    const asking = this.asking.get(hold) ?? this.of([{ name, owner }]);
    this.asking.set(hold, asking);
    const [label] = await asking;
    this.asking.delete(hold);
    return label === undefined ? error : withHolderLabel(error, label);
  }

  /** Handles a request or a reply of another instance. */
  handle(message: string): void {
    const [, asker = '', question, holds = ''] = QUESTION.exec(message) ?? [];
    if (question !== undefined) return this.answer(asker, question, holds);
    const [, id, labels = ''] = ANSWER.exec(message) ?? [];
    this.questions.get(Number(id))?.(listIn(labels));
  }

  private canAsk(instance: string): boolean {
    return (
      this.store.send !== undefined &&
      isInstance(instance) &&
      // Only this instance knows the labels of its own holds.
      instance !== this.own
    );
  }

  private isSilent(instance: string): boolean {
    return (this.silent.get(instance) ?? -Infinity) > this.clock.now();
  }

  /** Resolves to the reply of an instance; undefined without one. */
  private async question(
    instance: string,
    holds: readonly HeldBy[],
  ): Promise<readonly unknown[] | undefined> {
    const { clock, store } = this;
    const id = ++this.count;
    const question = `asked ${this.own} ${id} ${JSON.stringify(holds.map(({ name, owner }) => [name, owner]))}`;
    const answer = new Promise<readonly unknown[]>((resolve) => this.questions.set(id, resolve));
    try {
      for (const delay of this.intervals) {
        const sent = store.send?.(instance, question);
        if (!sent || !(await answerWithin(clock, sent, delay))) return undefined;
        const labels = await Promise.race([answer, sleep(clock, delay)]);
        if (labels) return labels;
      }
    } finally {
      this.questions.delete(id);
    }
    if (this.silent.size >= MAX_SILENT) this.silent.clear();
    this.silent.set(instance, clock.now() + SILENCE);
    return undefined;
  }

  private answer(asker: string, question: string, holds: string): void {
    const labels = listIn(holds).map((held) => {
      const [name, owner] = Array.isArray(held) ? (held as unknown[]) : [];
      const isKnown = typeof name === 'string' && typeof owner === 'string';
      return (isKnown ? this.labelOf({ name, owner }) : undefined) ?? null;
    });
    this.store.send?.(asker, `labels ${question} ${JSON.stringify(labels)}`).catch(() => undefined);
  }
}
