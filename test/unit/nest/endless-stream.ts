import { Observable } from 'rxjs';

/** Emits all of its values at once, until its subscriber has left. A subscriber that does not stop it gets an error. */
export class EndlessStream {
  emitted = 0;

  readonly values = new Observable<number>((subscriber) => {
    while (!subscriber.closed && this.emitted < 1_000) {
      this.emitted += 1;
      subscriber.next(this.emitted);
    }
    subscriber.error(new Error('Nobody has stopped the stream.'));
  });
}
