import { availableParallelism } from 'node:os';

/**
 * @typedef {object} Check one combination
 * @property {string} subject what it is about, a column of the table: an application, or `EVERYWHERE`
 * @property {string} what it tells, a row of the table
 * @property {string} [variant] further part of the combination
 * @property {() => Promise<unknown>} run rejects when it does not hold
 */

/** The subject of what is the same for every application. */
export const EVERYWHERE = 'everywhere';

/** @typedef {Check & { error?: unknown }} Result */

/**
 * Runs all checks, as many at the same time as there are processors, and says a line for each. Goes on after a
 * failure, until it is interrupted.
 *
 * @param {readonly Check[]} checks
 * @param {AbortSignal} interruption
 * @returns {Promise<Result[]>}
 */
export async function runChecks(checks, interruption) {
  const left = [...checks];
  /** @type {Result[]} */
  const results = [];
  async function work() {
    for (let check = left.shift(); check && !interruption.aborted; check = left.shift()) {
      results.push(await runCheck(check));
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  interruption.throwIfAborted();
  return results;
}

/**
 * @param {Check} check
 * @returns {Promise<Result>}
 */
async function runCheck(check) {
  const begin = performance.now();
  const result = await check.run().then(
    () => check,
    (error) => ({ ...check, error }),
  );
  const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
  console.log(`${'error' in result ? 'FAILED' : 'ok    '} ${nameOf(check)} (${seconds} s)`);
  if ('error' in result) console.log(messageOf(result.error).replaceAll(/^/gm, '       '));
  return result;
}

/** @param {Check} check */
export function nameOf({ subject, what, variant }) {
  return [subject, what, variant].filter(Boolean).join(' | ');
}

/** @param {unknown} error */
function messageOf(error) {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  // The cause of a program's failure repeats its command.
  return cause instanceof Error && !cause.message.startsWith('Command failed')
    ? `${message}\n${cause.message}`
    : message;
}
