import { parse } from 'yaml';
import { alertRules } from '../../lib/cli/monitoring/alert-rules.js';
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
    expect(parse(result.stdout)).toEqual(parse(alertRules(undefined)));
    // The package has no site yet, so no address is known.
    expect(result.stdout).not.toContain('runbook_url');
  });

  it('alerts --runbook-url links each alert to a section of the runbook', async () => {
    const address = 'https://ops.example/runbook.html';
    const { stdout } = await CommandLine.run(['alerts', '--runbook-url', address], NO_REDIS);
    expect(parse(stdout)).toEqual(parse(alertRules(address)));
    expect(stdout.match(/runbook_url: https:\/\/ops\.example\/runbook\.html#[a-z-]+\n/g)).toHaveLength(
      stdout.match(/- alert:/g)?.length ?? 0,
    );
  });

  it('alerts page nobody about calls that a deliberate maxWaiters rejects', () => {
    const { groups } = parse(alertRules(undefined)) as {
      groups: readonly [{ rules: readonly { alert: string; labels: object }[] }];
    };
    expect(groups[0].rules.find(({ alert }) => alert === 'LockQueueFull')?.labels).toEqual({
      severity: 'info',
    });
  });

  it('dashboard and alerts reject options of a connection', async () => {
    expect(await CommandLine.run(['alerts', '--url', 'redis://127.0.0.1:1'])).toMatchObject({
      exitCode: 64,
      stdout: '',
    });
  });
});
