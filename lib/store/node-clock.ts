/** Number of recent replies that count. */
const SAMPLES = 8;

/** The measurement of one reply, in microseconds. */
interface Sample {
  /** The node's time minus the local time, with an error of at most half the trip. */
  readonly offset: number;
  /** Time from the request to the reply. */
  readonly trip: number;
}

/**
 * Estimates a node's clock from its replies. The reply with the shortest trip counts, because a reply that this process
 * read late is imprecise. This is the clock filter of NTP (RFC 5905, section 10).
 */
export class NodeClock {
  private samples: readonly Sample[] = [];
  private best: Sample | undefined;
  private lastTime: number | undefined;

  /** The node's time minus the local time, in microseconds; undefined before the first reply. */
  get offset(): number | undefined {
    return this.best?.offset;
  }

  /** Records the node's `time` in microseconds from the reply to a request; local times are in milliseconds. */
  observe(time: number, sentAt: number, answeredAt: number): void {
    // Requests of one call share one reply with the time.
    if (time === this.lastTime) return;
    this.lastTime = time;
    const middle = ((sentAt + answeredAt) / 2) * 1_000;
    const sample = { offset: time - middle, trip: (answeredAt - sentAt) * 1_000 };
    // Drops samples that contradict the new one: a clock was set or has drifted since.
    const kept = this.samples.filter(
      ({ offset, trip }) => Math.abs(offset - sample.offset) <= (trip + sample.trip) / 2,
    );
    this.samples = [...kept, sample].slice(-SAMPLES);
    this.best = this.samples.reduce((best, each) => (each.trip <= best.trip ? each : best));
  }
}
