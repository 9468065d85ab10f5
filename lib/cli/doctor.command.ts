import { styleText } from 'node:util';
import { resolveModuleOptions } from '../options/module-options.js';
import { type ConnectionFlags, moduleOptions } from './connection-flags.js';
import { admit, type Admission } from './doctor/admission.js';
import { checkKeys } from './doctor/keys.check.js';
import { checkEviction, checkPersistence } from './doctor/memory.check.js';
import { checkReplication } from './doctor/replication.check.js';
import { checkScripts } from './doctor/scripts.check.js';
import { checkClock, checkRoundTrip } from './doctor/times.check.js';
import { clauseOf, error, type Finding, type Findings, skipped, type Status } from './doctor/finding.js';
import type { DoctorSettings, Patient } from './doctor/patient.js';
import { Output, printable } from './output.js';

export type DoctorFlags = ConnectionFlags & DoctorSettings;

const CHECKS: readonly (readonly [name: string, check: (patient: Patient) => Findings])[] = [
  ['scripts', checkScripts],
  ['role', checkReplication],
  ['round-trip', checkRoundTrip],
  ['eviction', checkEviction],
  ['persistence', checkPersistence],
  ['keys', checkKeys],
];

const SEVERITY: Readonly<Record<Status, number>> = { skipped: 0, ok: 0, warning: 1, error: 2 };
const MARKS: Readonly<Record<Status, string>> = {
  ok: styleText('green', '✓'),
  skipped: styleText('dim', '-'),
  warning: styleText('yellow', '!'),
  error: styleText('red', '✗'),
};

/** Checks every server that keeps locks. Resolves to 0, 1 or 2, according to the worst finding. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  const out = new Output(flags.json);
  const options = moduleOptions(flags);
  resolveModuleOptions(options);
  const admissions = await admit(options, flags);
  try {
    const servers = await Promise.all(admissions.map(examine));
    const findings = servers.flat();
    const worst = Math.max(...findings.map(({ status }) => SEVERITY[status]));
    out.result({ verdict: ['healthy', 'warnings', 'errors'][worst], findings }, () => {
      for (const each of servers) print(out, each);
    });
    return worst;
  } finally {
    for (const { patient } of admissions) patient?.close();
  }
}

type ServerFinding = Finding & { readonly server: string };

/** Runs the checks in sequence, because they would slow each other down. The clock is watched in parallel. */
async function examine({ server, findings, patient }: Admission): Promise<ServerFinding[]> {
  const all = [...findings];
  if (patient) {
    const clock = allOf('clock', checkClock(patient));
    for (const [name, check] of CHECKS) all.push(...(await allOf(name, check(patient))));
    all.push(...(await clock));
  }
  return all.map((each) => ({ server, ...each }));
}

/** Collects the findings of a check until it has ended or failed. */
async function allOf(name: string, check: Findings): Promise<Finding[]> {
  const all: Finding[] = [];
  try {
    for await (const finding of check) all.push(finding);
  } catch (reason) {
    const message = clauseOf(reason);
    const conclude = /^NOPERM|^ERR unknown/.test(message) ? skipped : error;
    all.push(conclude(name, `Its ${name} cannot be checked (${message}).`));
  }
  return all;
}

function print(out: Output, findings: readonly ServerFinding[]): void {
  out.line(styleText('bold', findings[0]?.server ?? ''));
  for (const { status, message } of findings) out.line(`${MARKS[status]} ${printable(message)}`);
}
