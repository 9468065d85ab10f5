import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { StreamableFile } from '@nestjs/common';
import { concat, defer, from, isObservable, map, mergeMap, Observable, of, tap, throwError } from 'rxjs';
import type { Composition } from './composition.js';
import type { Section } from './scene.js';
import type { Transport } from './transports/transport.js';

/** Begins work under a lock. */
export type Enter = () => Section;

/** The bodies of handlers and services. */
export class Handlers {
  private readonly attempts = new Map<string, number>();

  constructor(
    private readonly composition: Composition,
    private readonly transport: Transport,
  ) {}

  /** The result of a handler; `below` calls its service. */
  respond(id: string, enter: Enter, below?: () => unknown): unknown {
    const { result } = this.composition;
    if (result === 'value')
      return below === undefined ? this.atOnce(id, enter) : this.settle(id, enter, below);
    if (result === 'promise of an observable') return Promise.resolve(this.stream(id, enter, below));
    if (this.streams) return this.stream(id, enter, below);
    if (result === 'file') return this.file(id, enter, below);
    return this.settle(id, enter, below);
  }

  /** The result of a service below the handler. */
  serve(id: string, enter: Enter): unknown {
    return this.streams ? this.stream(id, enter) : this.settle(id, enter);
  }

  /** Whether handlers and services return Observables. */
  get streams(): boolean {
    const { result } = this.composition;
    return result === 'observable' || result === 'failing observable' || result === 'sse';
  }

  private atOnce(id: string, enter: Enter): unknown {
    const section = enter();
    try {
      return this.outcome(id);
    } finally {
      section.end();
    }
  }

  private async settle(id: string, enter: Enter, below?: () => unknown): Promise<unknown> {
    const section = enter();
    try {
      await this.work();
      section.check();
      return below === undefined ? this.outcome(id) : await below();
    } finally {
      section.end();
    }
  }

  private async file(id: string, enter: Enter, below?: () => unknown): Promise<StreamableFile> {
    const section = enter();
    try {
      await this.work();
      if (below !== undefined) await below();
    } finally {
      section.end();
    }
    const body = Readable.from(this.parts(id, () => body.destroyed || section.check()));
    return new StreamableFile(body);
  }

  private async *parts(id: string, check: () => unknown): AsyncIterable<string> {
    yield `${id},`;
    await this.work();
    check();
    yield 'end';
  }

  private stream(id: string, enter: Enter, below?: () => unknown): Observable<unknown> {
    return new Observable((subscriber) => {
      const section = enter();
      const values =
        below === undefined
          ? defer(() => this.work()).pipe(mergeMap(() => this.values(id)))
          : defer(() => from(Promise.resolve(below()))).pipe(
              mergeMap((inner) => (isObservable(inner) ? inner : of(inner))),
            );
      const end = (): void => section.end();
      return values
        .pipe(
          tap({
            next: () => section.check(),
            complete: end,
            error: end,
            unsubscribe: end,
          }),
        )
        .subscribe(subscriber);
    });
  }

  /** Only a stream of messages and of events shows more than one value to a client. */
  private values(id: string): Observable<unknown> {
    const { result, transport } = this.composition;
    const value = this.transport.valueOf(id);
    if (result === 'failing observable') return concat(throwError(() => this.transport.errorOf('FAILED')));
    const hasSeveral = transport === 'tcp' || result === 'sse';
    return hasSeveral ? concat(of(value), defer(() => this.work()).pipe(map(() => value))) : of(value);
  }

  private outcome(id: string): unknown {
    const { result } = this.composition;
    const attempt = (this.attempts.get(id) ?? 0) + 1;
    this.attempts.set(id, attempt);
    if (result === 'throws') throw new Error('an unknown error');
    if (result === 'throws an HttpException') throw this.transport.errorOf('HANDLER');
    if (result === 'fails once' && attempt === 1) throw this.transport.errorOf('FIRST ATTEMPT');
    return this.transport.valueOf(id);
  }

  /** Takes the time of work under a lock. */
  async work(): Promise<void> {
    const { work } = this.composition;
    if (work > 0) await delay(work);
  }
}
