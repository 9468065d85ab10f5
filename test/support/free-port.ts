import getPort from 'get-port';

/**
 * A port of 127.0.0.1 on which nobody listens.
 *
 * Below the range that systems hand out to outgoing connections, so that none of the many of a test run takes it before
 * its server does, or during a restart; and low enough for the bus port of a Cluster node, which is 10,000 higher.
 */
export async function freePort(): Promise<number> {
  const candidates = Array.from({ length: 20 }, () => 10_000 + Math.floor(Math.random() * 20_000));
  return getPort({ host: '127.0.0.1', port: candidates });
}
