import type { LockStore, StoreEvents } from '../../lib/store/lock-store.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';
import type { Weather } from './weather.js';

/** The connection on which an instance hears of grants. A message that is lost is lost for good. */
export class InboxConnection {
  /** Whether the instance believes that it would hear. */
  open = false;
  private generation = 0;
  private events: StoreEvents | undefined;
  private lastArrival = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly process: SimulatedProcess,
    private readonly weather: Weather,
    private readonly instance: number,
    private readonly server: Pick<LockStore, 'open' | 'close'>,
  ) {}

  listen(events: StoreEvents): void {
    this.events = events;
    this.subscribe();
  }

  /** Breaks the connection; one end notices `lag` after the other. */
  break(lasts: number, first: 'client' | 'server', lag: number): void {
    if (!this.events) return;
    const generation = ++this.generation;
    const current = (call: () => void) => (): void => {
      if (generation === this.generation) call();
    };
    const close = (): void =>
      this.process.run(
        'messages',
        current(() => (this.open = false)),
      );
    const forget = current(() => void this.server.close());
    this.time.after(first === 'client' ? 0 : lag, close);
    this.time.after(first === 'server' ? 0 : lag, forget);
    this.time.after(Math.max(lasts, lag), () =>
      this.process.run(
        'messages',
        current(() => this.subscribe()),
      ),
    );
  }

  /** The server notices that nobody listens any more. */
  drop(): void {
    this.generation++;
    void this.server.close();
  }

  private subscribe(): void {
    const { generation, events } = this;
    this.lastArrival = 0;
    this.travel(generation, () => {
      this.server.open({
        granted: (...grant) => this.deliver(generation, () => events?.granted(...grant)),
        revoked: (...hold) => this.deliver(generation, () => events?.revoked(...hold)),
        askedIfWaiting: (...place) => this.deliver(generation, () => events?.askedIfWaiting(...place)),
        gap: (...gap) => this.deliver(generation, () => events?.gap(...gap)),
        released: (...name) => this.deliver(generation, () => events?.released(...name)),
        isInUse: () => false,
        done: (...name) => this.deliver(generation, () => events?.done(...name)),
        subscribed: () => undefined,
        reconnected: () => undefined,
        told: (...message) => this.deliver(generation, () => events?.told(...message)),
        unusable: () => undefined,
      });
      this.travel(generation, () =>
        this.process.run('messages', () => {
          if (generation !== this.generation) return;
          this.open = true;
          events?.subscribed();
        }),
      );
    });
  }

  private travel(generation: number, call: () => void): void {
    this.time.after(this.weather.longestTrip, () => {
      if (generation === this.generation) call();
    });
  }

  private deliver(generation: number, call: () => void): void {
    const arrival = this.weather.arrival(this.time.now, this.instance, 'messages');
    if (arrival === undefined) return;
    this.lastArrival = Math.max(this.lastArrival, arrival);
    this.time.at(this.lastArrival, () =>
      this.process.run('messages', () => {
        if (generation === this.generation) call();
      }),
    );
  }
}
