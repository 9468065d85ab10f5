import { performance } from 'node:perf_hooks';

/** Prints what is under way to stderr, and its seconds when it has settled. */
export async function progress<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const start = performance.now();
  process.stderr.write(`${what} … `);
  try {
    return await work;
  } finally {
    process.stderr.write(`${((performance.now() - start) / 1_000).toFixed(1)} s\n`);
  }
}
