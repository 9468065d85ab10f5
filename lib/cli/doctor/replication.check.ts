import { error, type Finding, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';
import { messageOf } from './scripts.check.js';

/** Milliseconds that replicas have to confirm a write. */
const PATIENCE = 500;

/** Whether it is a master of the kind that the connection says, and what its replicas are good for. */
export async function checkReplication(patient: Patient): Promise<Finding[]> {
  const replication = await patient.info('replication');
  const role = replication.get('role');
  if (role === 'slave')
    return [
      error(
        'role',
        `It is a replica of ${replication.get('master_host')}:${replication.get('master_port')}, and replicas grant no locks.`,
      ),
    ];
  const [replicas, good] = [
    Number(replication.get('connected_slaves')),
    replication.get('min_slaves_good_slaves'),
  ];
  return [
    ok('role', `It is a master, with ${replicas === 0 ? 'no replicas' : count(replicas, 'replica')}.`),
    ...(await checkCluster(patient)),
    ...(await checkIsolation(replicas, good)),
    await checkWait(patient, replicas),
  ];
}

async function checkCluster(patient: Patient): Promise<Finding[]> {
  const isNode = (await patient.number('cluster', 'cluster_enabled').catch(() => undefined)) === 1;
  if (isNode && !patient.isOfCluster)
    return [
      error('cluster', 'It is a node of a Redis Cluster: connect with { nodes }, and look with --cluster.'),
    ];
  if (!patient.isOfCluster) return [];
  const state = /cluster_state:(\w+)/.exec(await patient.redis.cluster('INFO'))?.[1];
  return state === 'ok'
    ? [ok('cluster', 'It finds every slot served.')]
    : [error('cluster', `It finds the Cluster in the state ${state}: some slots are served by nobody.`)];
}

/** `good` is told where min-replicas-to-write is set. */
async function checkIsolation(replicas: number, good: string | undefined): Promise<Finding[]> {
  if (good === undefined && replicas > 0) {
    return [
      warning(
        'min-replicas',
        'Cut off from its replicas it would go on granting beside the new master: set min-replicas-to-write.',
      ),
    ];
  }
  if (good === undefined) return [];
  return [
    ok(
      'min-replicas',
      `It takes no writes without its replicas; ${count(Number(good), 'replica')} in good health.`,
    ),
  ];
}

/** What the option `replicas` does. */
async function checkWait({ redis }: Patient, replicas: number): Promise<Finding> {
  try {
    // They are asked for what this connection has written last, when scripts were tried.
    const confirmed = await redis.wait(replicas, PATIENCE);
    if (confirmed < replicas)
      return warning(
        'wait',
        `Of ${count(replicas, 'replica')} only ${confirmed} confirmed a write within ${PATIENCE} ms.`,
      );
    return replicas === 0
      ? ok('wait', 'It knows WAIT, and has no replicas for it.')
      : ok('wait', `${count(replicas, 'replica')} confirmed a write.`);
  } catch (reason) {
    return skipped('wait', `The option replicas cannot be used (${messageOf(reason)}).`);
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
