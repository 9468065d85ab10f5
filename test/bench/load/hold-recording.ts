/** Moments of one hold, in milliseconds of the shared clock. */
const MOMENTS = 3;

/** When holds were asked for, began and ended; grows without an object for each hold. */
export class HoldRecording {
  private moments = new Float64Array(MOMENTS * 4_096);
  private used = 0;

  add(requested: number, begin: number, end: number): void {
    if (this.used === this.moments.length) this.grow();
    this.moments[this.used++] = requested;
    this.moments[this.used++] = begin;
    this.moments[this.used++] = end;
  }

  /** The moments of all holds, one after the other. */
  get all(): Float64Array {
    return this.moments.slice(0, this.used);
  }

  private grow(): void {
    const larger = new Float64Array(this.moments.length * 2);
    larger.set(this.moments);
    this.moments = larger;
  }
}

/** The same kind of moment of all holds of several recordings. */
export function column(
  recordings: readonly Float64Array[],
  moment: 'requested' | 'begin' | 'end',
): Float64Array {
  const offset = { requested: 0, begin: 1, end: 2 }[moment];
  const moments = new Float64Array(recordings.reduce((sum, { length }) => sum + length / MOMENTS, 0));
  let used = 0;
  for (const recording of recordings) {
    for (let at = offset; at < recording.length; at += MOMENTS) moments[used++] = recording[at] ?? NaN;
  }
  return moments;
}
