import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../duration.js';
import { error, type Findings, ok, warning } from './finding.js';
import type { Patient } from './patient.js';

/** Maximum number of timed requests. */
const SAMPLES = 100;
const MAX_DURATION = 2_000;
/** Milliseconds for which the check watches the server's clock. */
const WATCHED = 1_000;
/** Milliseconds by which clocks may differ; NTP keeps them far closer. */
const SKEW = 1_000;
/** Milliseconds by which a clock may drift in this short time. */
const STEP = 100;

/** Compares the round trip with the time limits of the application. */
export async function* checkRoundTrip({ redis, settings }: Patient): Findings {
  const times: number[] = [];
  const until = performance.now() + MAX_DURATION;
  do {
    const sent = performance.now();
    // With a key, because hosted services refuse scripts without one.
    await redis.eval('return 1', 1, settings.key);
    times.push(performance.now() - sent);
  } while (times.length < SAMPLES && performance.now() < until);
  times.sort((a, b) => a - b);
  const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => times[Math.ceil(times.length * share) - 1]);
  const measured = `A round trip takes ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99)`;
  const limits = [
    { name: 'commandTimeout', limit: settings.commandTimeout, share: 1 / 2 },
    // Three round trips are one failed and one successful renewal.
    { name: 'ttl', limit: settings.ttl, share: 1 / 3 },
    ...(settings.nodeTimeout === undefined
      ? []
      : [{ name: 'nodeTimeout', limit: settings.nodeTimeout, share: 1 }]),
  ];
  const tooLong = limits.filter(({ limit, share }) => p99 > limit * share);
  if (tooLong.length === 0) {
    const against = limits.map(({ name, limit }) => `${name} ${formatDuration(limit)}`).join(', ');
    yield ok('round-trip', `${measured}, well within ${against}.`);
  }
  for (const { name, limit } of tooLong) {
    const message = `${measured}: too long for ${name} ${formatDuration(limit)}.`;
    yield p50 > limit ? error('round-trip', message) : warning('round-trip', message);
  }
}

interface Sample {
  /** Milliseconds by which the server's clock leads this machine's. */
  readonly ahead: number;
  /** Milliseconds by which the server's clock leads this machine's monotonic clock. */
  readonly sinceStart: number;
  /** Uncertainty of both values, in milliseconds. */
  readonly error: number;
}

/** Checks whether the server's clock agrees with this machine's and runs evenly. Takes a second. */
export async function* checkClock(patient: Patient): Findings {
  const first = await sample(patient);
  await sleep(WATCHED);
  const last = await sample(patient);
  const step = last.sinceStart - first.sinceStart;
  if (Math.abs(step) > STEP + first.error + last.error)
    yield error(
      'clock',
      `Its clock was set ${step > 0 ? 'forward' : 'back'} by ${formatDuration(Math.abs(step))} within a second: leases end early, or late.`,
    );
  const skew = Math.abs(last.ahead);
  yield skew > SKEW + last.error
    ? warning(
        'clock',
        `Its clock is ${formatDuration(skew)} ${last.ahead > 0 ? 'ahead of' : 'behind'} this machine's: one of the machines lacks NTP, and fencing tokens follow the server's clock.`,
      )
    : ok('clock', `Its clock agrees with this machine's to ${formatDuration(skew + last.error)}.`);
}

/** Takes several samples; returns the one with the shortest round trip. */
async function sample({ redis }: Patient): Promise<Sample> {
  const samples: Sample[] = [];
  for (let i = 0; i < 5; i += 1) {
    const [wall, sent] = [Date.now(), performance.now()];
    const time = serverTime(await redis.time());
    const half = (performance.now() - sent) / 2;
    samples.push({ ahead: time - (wall + half), sinceStart: time - (sent + half), error: half });
  }
  return samples.reduce((best, each) => (each.error < best.error ? each : best));
}

export function serverTime([seconds, microseconds]: readonly (number | string)[]): number {
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}
