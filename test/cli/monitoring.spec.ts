import { parse } from 'yaml';
import { ALERT_RULES } from '../../lib/cli/monitoring/alert-rules.js';
import { dashboard } from '../../lib/cli/monitoring/dashboard.js';
import { CommandLine, json } from './support/command-line.js';

/** No server listens there, and the commands must not need one. */
const NO_REDIS = { REDIS_URL: 'redis://127.0.0.1:1' };

describe('nest-redis-lock', () => {
  it('dashboard prints the dashboard as JSON, without Redis', async () => {
    const result = await CommandLine.run(['dashboard'], NO_REDIS);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(json(result)).toEqual(JSON.parse(JSON.stringify(dashboard())));
  });

  it('alerts prints the alert rules as YAML, without Redis', async () => {
    const result = await CommandLine.run(['alerts'], NO_REDIS);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(parse(result.stdout)).toEqual(parse(ALERT_RULES));
  });

  it('dashboard and alerts reject options of a connection', async () => {
    expect(await CommandLine.run(['alerts', '--url', 'redis://127.0.0.1:1'])).toMatchObject({
      exitCode: 64,
      stdout: '',
    });
  });
});
