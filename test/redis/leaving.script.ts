import { Instance } from './instance.js';

const [connection = '', pid = '', signal = ''] = process.argv.slice(2);

/** Uses a Redis, which is then sent a signal, and prints the milliseconds from its close to the end of the process. */
async function main(): Promise<void> {
  const instance = await new Instance({ connection }).warmUp();
  process.kill(Number(pid), signal);
  await instance.locks.acquire('n', { outageTimeout: 100 }).catch(() => undefined);
  await instance.locks.close();
  const closedAt = performance.now();
  process.once('exit', () => process.stdout.write(`${performance.now() - closedAt}`));
}

void main();
