import { CommandLine, json } from './command-line.js';

interface Finding {
  readonly server: string;
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
}

/** What the doctor has found. */
export interface Diagnosis {
  readonly exitCode: number | null;
  readonly verdict: string;
  readonly findings: readonly Finding[];
  /** Whatever is wrong, `<status> <check>`. */
  readonly bad: readonly string[];
  /** What is said of it. */
  readonly said: string;
}

/** A machine under load takes its time. */
export const LOOSE = ['--ttl', '1h', '--command-timeout', '60s', '--node-timeout', '10s'];
/** Of a server with which nothing is wrong. */
export const HEALTHY = { appendonly: 'yes' };

/** Runs the doctor to its end. */
export async function diagnose(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Diagnosis> {
  const result = await CommandLine.run(['doctor', '--json', ...LOOSE, ...args], env);
  const { exitCode, stderr } = result;
  expect(stderr).toBe('');
  const { findings, verdict } = json(result) as Pick<Diagnosis, 'findings' | 'verdict'>;
  const bad = findings.filter(({ status }) => status === 'warning' || status === 'error');
  return {
    exitCode,
    verdict,
    findings,
    bad: bad.map(({ check, status }) => `${status} ${check}`),
    said: bad.map(({ message }) => message).join('\n'),
  };
}
