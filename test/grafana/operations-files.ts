import { join } from 'node:path';
import { parse } from 'yaml';
import { alertRules } from '../../lib/cli/monitoring/alert-rules.js';
import { dashboard as makeDashboard } from '../../lib/cli/monitoring/dashboard.js';

export const ROOT = join(__dirname, '../..');

/** An alert of the rules that the package prints. */
interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** The rules, with an address of the runbook. */
export const RULES = alertRules('https://ops.example/runbook');

const rules: RuleFile = parse(RULES);
export const alerts = rules.groups.flatMap((group) => group.rules);

export const dashboard: Dashboard = JSON.parse(JSON.stringify(makeDashboard()));

/** A query as Prometheus gets it, when Grafana has filled in its variables. */
export function filledIn(query: string): string {
  return query
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '1h')
    .replaceAll(/"\$(?:job|instance)"/g, '".*"');
}
