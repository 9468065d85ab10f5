import { Injectable } from '@nestjs/common';

/**
 * A pool of one connection that calls back when it is free. As with pools that do not use AsyncResource, the callback of
 * a waiting caller runs in the async context of the caller that gives the connection back.
 */
@Injectable()
export class CallbackPool {
  private isTaken = false;
  private readonly waiting: (() => void)[] = [];

  take(callback: () => void): void {
    if (this.isTaken) {
      this.waiting.push(callback);
      return;
    }
    this.isTaken = true;
    callback();
  }

  giveBack(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.isTaken = false;
    else next();
  }
}
