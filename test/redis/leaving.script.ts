import { Instance } from './instance.js';

const [connection = '', pid = '', signal = ''] = process.argv.slice(2);

/** Milliseconds between two looks for stalls, and those that may pass on an idle machine. */
const [TICK, USUAL] = [5, 10];

/**
 * Uses a Redis, which is then sent a signal, and prints the milliseconds from its close to the end of the process,
 * without those in which the machine had no processor for it.
 */
async function main(): Promise<void> {
  const instance = await new Instance({ connection }).warmUp();
  process.kill(Number(pid), signal);
  await instance.locks.acquire('n', { outageTimeout: 100 }).catch(() => undefined);
  await instance.locks.close();
  const closedAt = performance.now();
  let [lookedAt, stalled] = [closedAt, 0];
  const look = (): void => {
    const now = performance.now();
    stalled += Math.max(0, now - lookedAt - USUAL);
    lookedAt = now;
  };
  setInterval(look, TICK).unref();
  process.once('exit', () => {
    look();
    process.stdout.write(`${lookedAt - closedAt - stalled}`);
  });
}

void main();
