import { moduleOptions } from '../../../lib/cli/connection-flags.js';
import type { ClusterDescription } from '../../../lib/options/module-options.interface.js';

describe('The credentials of the command line', () => {
  const { env } = process;
  afterEach(() => (process.env = env));

  const credentialsOf = (url: string): object => {
    process.env = { ...env, REDIS_USERNAME: 'from-env', REDIS_PASSWORD: 'secret of env' };
    const { connection: server } = moduleOptions({ url: [url] });
    const { username, password } = new URL(server);
    const { connection: cluster } = moduleOptions({ url: [url], cluster: true });
    return {
      server: { username, password: decodeURIComponent(password) },
      cluster: (cluster as ClusterDescription).options?.redisOptions,
    };
  };

  it.each([
    ['redis://h', 'from-env', 'secret of env'],
    ['redis://app@h', 'app', 'secret of env'],
    ['redis://app:own@h', 'app', 'own'],
  ])('of %s are equal for a server and for a Cluster, and the URL comes first', (url, username, password) => {
    expect(credentialsOf(url)).toEqual({ server: { username, password }, cluster: { username, password } });
  });
});
