/** How many of a node's answers count. */
const SAMPLES = 8;

/** What one answer tells, in microseconds. */
interface Sample {
  /** The node's time less the local one, wrong by half of the trip at most. */
  readonly offset: number;
  /** From the request to the answer. */
  readonly trip: number;
}

/**
 * A node's clock as its answers show it. That of the shortest trip counts: an answer that this process was slow to read says
 * little. This is the clock filter of NTP (RFC 5905, section 10).
 */
export class NodeClock {
  private samples: readonly Sample[] = [];
  private best: Sample | undefined;
  private told: number | undefined;

  /** The node's time less the local one in microseconds; undefined before its first answer. */
  get offset(): number | undefined {
    return this.best?.offset;
  }

  /** The node's `time` in microseconds, told in answer to a request; local times in milliseconds. */
  observe(time: number, sentAt: number, answeredAt: number): void {
    // Requests of one call have one answer for the time.
    if (time === this.told) return;
    this.told = time;
    const middle = ((sentAt + answeredAt) / 2) * 1_000;
    const sample = { offset: time - middle, trip: (answeredAt - sentAt) * 1_000 };
    // One of the clocks was set or has drifted since, where both cannot be right.
    const kept = this.samples.filter(
      ({ offset, trip }) => Math.abs(offset - sample.offset) <= (trip + sample.trip) / 2,
    );
    this.samples = [...kept, sample].slice(-SAMPLES);
    this.best = this.samples.reduce((best, each) => (each.trip <= best.trip ? each : best));
  }
}
