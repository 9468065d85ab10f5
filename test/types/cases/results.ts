import { Locked } from 'nest-redis-lock';
import { of, Subject, type Observable } from 'rxjs';

export class Fits {
  @Locked('x') async promise() {}
  @Locked('x') promiseOfValue(): Promise<number> {
    return Promise.resolve(1);
  }
  @Locked('x') observable(): Observable<number> {
    return of(1);
  }
  @Locked('x') subject(): Subject<number> {
    return new Subject();
  }
  @Locked('x') either(): Promise<number> | Observable<number> {
    return of(1);
  }
  @Locked('x') promiseOfObservable(): Promise<Observable<number>> {
    return Promise.resolve(of(1));
  }
  @Locked('x') any(): any {
    return 1;
  }
}

export class DoesNotFit {
  @Locked('x') nothing() {} // error: a locked method must return a Promise or an Observable
  @Locked('x:<0>') withKey(id: string) {} // error: a locked method must return a Promise or an Observable
  @Locked('x') // error: a locked method must return a Promise or an Observable
  value(): number {
    return 1;
  }
  @Locked('x') // error: a locked method must return a Promise or an Observable
  sometimes(now: boolean): number | Promise<number> {
    return now ? 1 : Promise.resolve(1);
  }
  @Locked('x') // error: a locked method must return a Promise or an Observable
  unknown(): unknown {
    return 1;
  }
  @Locked('x') // error: a locked method must return a Promise or an Observable
  async *values(): AsyncGenerator<number> {
    yield 1;
  }
  @Locked('x') field = async () => {}; // error: TS1240
}
