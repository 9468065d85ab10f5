import { clauseOf, error, type Finding, type Findings, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';

/** Milliseconds for replicas to confirm a write. */
const TIMEOUT = 500;

/** Checks whether the server is a master of the configured kind, and whether its replicas confirm writes. */
export async function* checkReplication(patient: Patient): Findings {
  const replication = await patient.info('replication');
  if (replication.get('role') === 'slave') {
    const master = `${replication.get('master_host')}:${replication.get('master_port')}`;
    yield error('role', `It is a replica of ${master}, and replicas grant no locks.`);
    return;
  }
  const replicas = Number(replication.get('connected_slaves'));
  yield ok('role', `It is a master, with ${replicas === 0 ? 'no replicas' : counted(replicas)}.`);
  yield* checkCluster(patient);
  // INFO contains it only if min-replicas-to-write is set.
  const good = replication.get('min_slaves_good_slaves');
  if (good !== undefined)
    yield ok(
      'min-replicas',
      `It rejects writes without enough replicas; ${counted(Number(good))} are healthy.`,
    );
  else if (replicas > 0)
    yield warning(
      'min-replicas',
      'If it is cut off from its replicas, it continues to grant beside the new master: set min-replicas-to-write.',
    );
  yield await checkWait(patient, replicas);
}

async function* checkCluster(patient: Patient): Findings {
  if (!patient.isOfCluster) {
    const cluster = await patient.info('cluster').catch(() => undefined);
    if (cluster?.get('cluster_enabled') === '1')
      yield error(
        'cluster',
        'It is a node of a Redis Cluster: connect with { nodes }, and use --cluster here.',
      );
    return;
  }
  const state = /cluster_state:(\w+)/.exec(await patient.redis.cluster('INFO'))?.[1];
  yield state === 'ok'
    ? ok('cluster', 'Every slot of the Cluster is served.')
    : error('cluster', `It finds the Cluster in the state ${state}: some slots have no node.`);
}

/** Runs WAIT, as the option `replicas` does. */
async function checkWait({ redis }: Patient, replicas: number): Promise<Finding> {
  try {
    // WAIT refers to the last write of this connection, which the check of scripts made.
    const confirmed = await redis.wait(replicas, TIMEOUT);
    if (confirmed < replicas)
      return warning(
        'wait',
        `Of ${counted(replicas)} only ${confirmed} confirmed a write within ${TIMEOUT} ms.`,
      );
    return replicas === 0
      ? ok('wait', 'It supports WAIT, but has no replicas.')
      : ok('wait', `${counted(replicas)} confirmed a write.`);
  } catch (reason) {
    return skipped('wait', `The option replicas cannot be used (${clauseOf(reason)}).`);
  }
}

function counted(replicas: number): string {
  return `${replicas} replica${replicas === 1 ? '' : 's'}`;
}
