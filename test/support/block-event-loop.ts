/** Blocks the event loop for so many milliseconds, and leaves the processor to Redis meanwhile. */
export function blockEventLoop(duration: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, duration);
}
