import type { Socket } from 'node:net';

/** What happens to bytes on their way; shared by the same direction of all connections of a proxy. */
export interface LaneRule {
  mode: 'pass' | 'hold' | 'drop';
  /** Milliseconds from arrival to delivery. */
  delay: number;
}

type Parcel = Buffer | 'end' | 'close';

/** One direction of one proxied connection: takes what one socket sends and gives it to the other, in order. */
export class TcpLane {
  private readonly underWay: { readonly parcel: Parcel; readonly due: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private missing = false;

  constructor(
    private readonly source: Socket,
    private readonly target: Socket,
    private rule: Readonly<LaneRule>,
    /** Sees bytes on arrival and may take them out by answering `'swallow'`. */
    private readonly inspect: (bytes: Buffer) => 'forward' | 'swallow',
  ) {
    source.on('data', (bytes: Buffer) => {
      if (this.inspect(bytes) === 'forward') this.take(bytes);
    });
    source.on('end', () => this.take('end'));
    source.on('close', () => this.take('close'));
    target.on('close', () => this.cancel());
  }

  /** Whether something was dropped: then what follows would make no sense to the receiver. */
  get hasGap(): boolean {
    return this.missing;
  }

  /** Swallows everything from now on, whatever the rules of the proxy. */
  silence(): void {
    this.rule = { mode: 'drop', delay: 0 };
    this.missing = true;
    this.update();
  }

  /** Applies a changed rule to what is under way. */
  update(): void {
    if (this.rule.mode === 'drop' && this.underWay.length > 0) {
      this.missing = true;
      this.cancel();
    }
    this.deliver();
  }

  private take(parcel: Parcel): void {
    if (this.rule.mode === 'drop') {
      this.missing = true;
      return;
    }
    this.underWay.push({ parcel, due: performance.now() + this.rule.delay });
    this.deliver();
  }

  private deliver(): void {
    clearTimeout(this.timer);
    if (this.rule.mode === 'hold') return;
    for (let next = this.underWay[0]; next !== undefined; next = this.underWay[0]) {
      const left = next.due - performance.now();
      if (left > 0) {
        this.timer = setTimeout(() => this.deliver(), left);
        return;
      }
      this.underWay.shift();
      this.hand(next.parcel);
    }
  }

  private hand(parcel: Parcel): void {
    if (parcel === 'close') this.target.destroy();
    else if (parcel === 'end') this.target.end();
    // A peer that is gone resets whoever goes on sending to it.
    else if (this.target.destroyed) this.source.resetAndDestroy();
    else this.target.write(parcel);
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.underWay.length = 0;
  }
}
