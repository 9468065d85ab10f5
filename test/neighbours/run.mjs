// Tries the packed package beside other packages, each in an application and a process of its own:
// node --require ./tools/typescript.hook.cjs test/neighbours/run.mjs [option]...
//
// --only TEXT  only neighbours with this in their names, such as `TypeORM`
// --times N    each of them N times
// --write      tries none, and writes the table into docs/guide/places.md
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeIntoPage } from '../../tools/page.mjs';
import { providePackage } from '../../tools/setup/package.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';
import { compiles, provideApplications } from './application.mjs';
import { Broker } from './broker.mjs';
import { neighbours } from './neighbours.mjs';
import { PostgresServer } from './postgres-server.mjs';
import { rowsOf, tableOf } from './table.mjs';
import { tryNeighbour } from './trial.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const system = thisSystem(root);
const AT_ONCE = 2;
const { values: asked } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    times: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
if (asked.write) {
  const lockFile = JSON.parse(readFileSync(join(root, 'test/neighbours/package-lock.json'), 'utf8'));
  const table = tableOf(rowsOf(neighbours, lockFile));
  await writeIntoPage(join(root, 'docs/guide/places.md'), 'test:neighbours', table);
  process.exit();
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => interruption.abort());

const selected = neighbours.filter(({ name }) => name.toLowerCase().includes(asked.only.toLowerCase()));
const trials = Array.from({ length: Number(asked.times) }, () => selected).flat();
let passed = 0;
/** @type {PostgresServer | undefined} */
let postgres;
/** @type {Map<string, Broker>} */
const brokers = new Map();
try {
  const { tarball } = providePackage(root, system);
  const groups = [...new Set(neighbours.map(({ group }) => group))];
  const { installation, applications } = provideApplications(groups, tarball, system);
  for (const group of groups) {
    const scenarios = neighbours.filter((each) => each.group === group).map(({ scenario }) => scenario);
    if (!compiles(applications[group], scenarios, system)) throw new Error('The scenarios do not compile');
  }
  if (trials.some((each) => each.postgres)) postgres = await PostgresServer.start(installation);
  for (const { broker } of trials)
    if (broker && !brokers.has(broker)) brokers.set(broker, await Broker.start(broker, system));

  const settings = { postgresUrl: postgres?.url ?? '', signal: interruption.signal };
  const waiting = [...trials];
  const tryNext = async () => {
    for (let each = waiting.shift(); each; each = waiting.shift()) {
      if (interruption.signal.aborted) return;
      const begin = performance.now();
      const trial = tryNeighbour(each, {
        ...settings,
        application: applications[each.group],
        brokerUrl: brokers.get(each.broker ?? '')?.url ?? '',
      });
      const error = await trial.then(() => undefined, String);
      const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
      console.log(`${error === undefined ? 'ok    ' : 'FAILED'} ${each.name} (${seconds} s)`);
      if (error === undefined) passed += 1;
      else console.log(error.replaceAll(/^/gm, '       '));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, tryNext));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
} finally {
  for (const broker of brokers.values()) await broker.stop();
  await postgres?.stop();
}
const failed = trials.length - passed;
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || trials.length === 0) process.exitCode = 1;
