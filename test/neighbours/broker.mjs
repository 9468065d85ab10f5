import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installFromDebian } from '../../tools/setup/debian-package.mjs';

const require = createRequire(import.meta.url);
const { freePort } = require('../support/free-port.ts');
const { end, spawnWithLifeline } = require('../support/lifeline.ts');
const { OutputTail } = require('../support/output-tail.ts');
const { waitFor } = require('../support/wait-for.ts');

/** A message broker on free ports of 127.0.0.1, with its files in a folder of its own. */
export class Broker {
  /**
   * @param {string} url
   * @param {string} directory
   * @param {readonly import('node:child_process').ChildProcess[]} children
   */
  constructor(url, directory, children) {
    this.url = url;
    this.directory = directory;
    this.children = children;
  }

  /**
   * @param {import('./neighbours.mjs').BrokerName} name
   * @param {import('../../tools/setup/system.mjs').System} system
   * @throws Error that says what to install, or with the output of a program that does not start
   */
  static async start(name, system) {
    const program = `${name}-server`;
    const isThere = () => system.read('sh', ['-c', `command -v ${program}`]) !== undefined;
    if (!isThere() && !(installFromDebian(program, system) && isThere()))
      throw new Error(`There is no ${program} here. Install it, for example: apt-get install ${program}`);
    const directory = mkdtempSync(join(tmpdir(), `nest-redis-lock-${name}-`));
    return name === 'nats' ? startNats(directory) : startRabbit(directory);
  }

  async stop() {
    for (const child of this.children) await end(child, 'SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** @param {string} directory */
async function startNats(directory) {
  const port = await freePort();
  const server = spawnWithLifeline('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { directory });
  await untilItSays(server, 'Server is ready');
  return new Broker(`nats://127.0.0.1:${port}`, directory, [server]);
}

/** @param {string} directory */
async function startRabbit(directory) {
  const [port, portOfErlang, portOfNames] = [await freePort(), await freePort(), await freePort()];
  writeFileSync(join(directory, 'plugins'), '[].');
  const env = {
    ...process.env,
    HOME: directory,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(portOfNames),
    RABBITMQ_CONF_ENV_FILE: join(directory, 'no-environment'),
    RABBITMQ_CONFIG_FILE: join(directory, 'no-settings'),
    RABBITMQ_DIST_PORT: String(portOfErlang),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'plugins'),
    RABBITMQ_LOG_BASE: directory,
    RABBITMQ_LOGS: '-',
    RABBITMQ_MNESIA_BASE: directory,
    RABBITMQ_NODENAME: 'neighbour@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    // Without a shell around it, which would survive.
    RUNNING_UNDER_SYSTEMD: 'true',
  };
  // Otherwise the server starts one that outlives it.
  const names = spawnWithLifeline('epmd', [], { directory: '', env });
  // The program on PATH changes the user, and the folders with it.
  const server = spawnWithLifeline('/usr/lib/rabbitmq/bin/rabbitmq-server', [], { directory, env });
  await untilItSays(server, 'Server startup complete');
  return new Broker(`amqp://127.0.0.1:${port}`, directory, [server, names]);
}

/**
 * @param {import('node:child_process').ChildProcess} server
 * @param {string} text
 */
async function untilItSays(server, text) {
  const output = new OutputTail();
  output.collect(server.stdout);
  output.collect(server.stderr);
  const isReady = () => output.toString().includes(text);
  await waitFor(isReady, { timeout: 120_000, that: 'the broker to start' }).catch((cause) => {
    throw new Error(`The broker did not start:\n${output.toString()}`, { cause });
  });
}
