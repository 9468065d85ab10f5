import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import {
  distinctUntilChanged,
  exhaustMap,
  fromEvent,
  type Observable,
  ReplaySubject,
  share,
  takeUntil,
  timer,
} from 'rxjs';

/** Milliseconds. */
const INTERVAL = 60;

/** Ends open streams and runs at shutdown: they would keep the server from closing. */
@Injectable()
export class Streams implements BeforeApplicationShutdown {
  private readonly closing = new AbortController();
  /** Aborted when this instance closes. */
  readonly signal = this.closing.signal;

  /** Takes pictures and sends those that differ. Pages share them; without a page, nothing is taken. */
  of<Picture>(take: () => Promise<Picture>): Observable<Picture> {
    return timer(0, INTERVAL).pipe(
      exhaustMap(take),
      distinctUntilChanged((a, b) => JSON.stringify(a) === JSON.stringify(b)),
      takeUntil(fromEvent(this.signal, 'abort')),
      share({ connector: () => new ReplaySubject(1) }),
    );
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }
}
