import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import which from 'which';
import { alerts, dashboard, filledIn, RULES } from './operations-files.js';

const promtool = which.sync('promtool', { nothrow: true });
const [describeRules, reason] =
  promtool === null ? [describe.skip, ' (skipped: there is no promtool on PATH)'] : [describe, ''];

function run(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(String(promtool), args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describeRules(`Prometheus${reason}`, () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'rules-'));
    writeFileSync(join(directory, 'alerts.yml'), RULES);
    copyFileSync(join(__dirname, 'alerts.test.yml'), join(directory, 'alerts.test.yml'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('accepts the alert rules', () => {
    const { status, output } = run('check', 'rules', join(directory, 'alerts.yml'));
    expect(output).toContain(`${alerts.length} rules found`);
    expect(status).toBe(0);
  });

  it('understands every query of the dashboard', () => {
    const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => filledIn(expr)));
    const rules = queries.map((expr, index) => ({ record: `panel_${index}`, expr }));
    const file = join(directory, 'panels.yml');
    // JSON is valid YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    expect(run('check', 'rules', file)).toMatchObject({ status: 0 });
  });

  it('fires each alert in its situation, and none in normal operation', () => {
    const { status, output } = run('test', 'rules', join(directory, 'alerts.test.yml'));
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
