import { Command, CommanderError, Option } from 'commander';
import type { LockLog } from '../diagnostics/lock-log.js';
import { isLockError } from '../errors/lock.error.js';
import { resolveModuleOptions } from '../options/module-options.js';
import { stackOf } from '../primitives/message-of.js';
import type { LockService } from '../service/lock.service.js';
import { openLockService } from '../service/open-lock-service.js';
import { type ConnectionFlags, moduleOptions } from './connection-flags.js';
import { doctor } from './doctor.command.js';
import { parseCount, parseDuration, parseWait } from './duration.js';
import { CommandError, ExitCode } from './exit-code.js';
import { forget } from './forget.command.js';
import { ls, SORTS } from './ls.command.js';
import { alertRules } from './monitoring/alert-rules.js';
import { dashboard } from './monitoring/dashboard.js';
import { Output, printError } from './output.js';
import { query } from './query.command.js';
import { release } from './release.command.js';
import { run, type RunFlags } from './run.command.js';

const { version, homepage } = require('../../package.json') as { version: string; homepage?: string };

/** The address of the documentation, if the package has a site. */
const SITE = homepage?.includes('#') ? undefined : homepage?.replace(/\/$/, '');

const HELP = `
Times are milliseconds, or text such as 500ms, 30s, 5m, 1h and 1d.

Environment:
  REDIS_URL             one or several URLs, if there is no --url; default: redis://127.0.0.1:6379
  REDIS_USERNAME, REDIS_PASSWORD   for URLs without a password; keep it out of the list of processes
  NODE_EXTRA_CA_CERTS   file with the certificate of the authority that signed the server's

Examples:
  nest-redis-lock doctor --url rediss://redis.example:6379
  nest-redis-lock ls order: --sort age
  nest-redis-lock query order:42 --prefix shop:
  nest-redis-lock release order:42
  nest-redis-lock run nightly --wait 0 --skip -- ./backup

Documentation: ${SITE === undefined ? 'docs/operate/cli.md of the repository' : `${SITE}/operate/cli.html`}`;

/** Logs nothing: errors of requests are enough. */
const SILENT: LockLog = { log: () => {}, warn: () => {}, error: () => {} };
const ON_STDERR: LockLog = { log: printError, warn: printError, error: printError };

/**
 * Milliseconds between requests for labels. Longer than in an application, because this process has only just begun to
 * listen.
 */
const LABEL_INTERVALS = [100, 200, 300, 400];

/** A command about a name, or about the names with a prefix. Resolves to the exit code. */
type LocksCommand<Flags> = (locks: LockService, out: Output, name: string, flags: Flags) => Promise<number>;

const COLLECT = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

/** Runs a command. Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // The arguments after it are another command, whose options commander must not parse.
  const end = args.indexOf('--');
  const [own, command] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  let exitCode: number = ExitCode.done;
  const program = build(command, (code) => (exitCode = code));
  try {
    await program.parseAsync([...own], { from: 'user' });
    return exitCode;
  } catch (error) {
    return exitCodeOf(error);
  }
}

function build(command: readonly string[], done: (exitCode: number) => void): Command {
  const program = new Command('nest-redis-lock')
    .description('Inspects the locks of nest-redis-lock, and runs commands under them.')
    .version(version)
    .configureOutput({ outputError: (text) => printError(text.trimEnd().replace(/^error: /, '')) })
    .addHelpText('after', HELP)
    .exitOverride();
  const add = (usage: string, description: string): Command =>
    program
      .command(usage)
      .description(description)
      .addHelpText('after', '\nFor times, variables and examples, run nest-redis-lock --help.')
      .option(
        '--url <url>',
        'redis[s]:// or valkey[s]://; repeat it for several; default: REDIS_URL, or 127.0.0.1:6379',
        COLLECT,
      )
      .option('--cluster', 'the URLs are nodes of a Redis Cluster')
      .option('--sentinel <name>', 'the URLs are sentinels that know the master by this name')
      .option('--prefix <prefix>', 'the keyPrefix of the application', 'lock:')
      .allowExcessArguments(false);
  /** Runs a command with a LockService, and closes its connections afterwards. */
  const onLocks =
    <Flags extends ConnectionFlags>(act: LocksCommand<Flags>, log = SILENT) =>
    async (name: string | undefined, flags: Flags): Promise<void> => {
      const options = resolveModuleOptions(moduleOptions(flags));
      const locks = openLockService(options, { log, labelIntervals: LABEL_INTERVALS });
      try {
        done(await act(locks, new Output(flags.json), name ?? '', flags));
      } finally {
        await locks.close();
      }
    };

  add('doctor', 'checks the server, one line per finding; exit code 0, 1 or 2 by the worst finding')
    .option('--json', 'prints JSON')
    .addOption(timeOption('--ttl <time>', 'ttl of the application', 30_000))
    .addOption(timeOption('--command-timeout <time>', 'advanced.commandTimeout of the application', 1_000))
    .addOption(
      timeOption('--node-timeout <time>', 'advanced.nodeTimeout of the application, for a quorum', 50),
    )
    .action(async (flags) => done(await doctor(flags)));

  add('ls [prefix]', 'lists the held names')
    .option('--json', 'prints JSON')
    .addOption(
      new Option('--sort <order>', 'the oldest holds or the most waiters first')
        .choices(SORTS)
        .default('name'),
    )
    .option('--limit <n>', 'at most so many', parseCount, 1_000)
    .action(onLocks(ls));

  add('query <name>', 'shows the holders and the waiters of a name; exit code 1: the name is free')
    .option('--json', 'prints JSON')
    .action(onLocks(query));

  add('forget <name>', 'deletes the kept result of a name; exit code 1: there was none')
    .option('--json', 'prints JSON')
    .action(onLocks(forget));

  add('release <name>', 'shows the holder, asks for confirmation, and ends the hold')
    .option('--json', 'prints JSON; needs --force')
    .option('--force', 'does not ask')
    .action(onLocks(release));

  add('run <name>', 'runs a command while it holds the name')
    .usage('<name> [options] -- <command> [arguments]')
    .option(
      '--wait <time>',
      'maximum wait for the lock, or forever; 0 for one attempt (default: 10s)',
      parseWait,
    )
    .option('--ttl <time>', 'lease, renewed while the command runs (default: 30s)', parseDuration)
    .option('--limit <n>', 'maximum number of simultaneous holders', parseCount)
    .option('--permits <n>', 'how many of them this command counts as', parseCount)
    .option('--min-hold <time>', 'minimum time for which the name stays taken', parseDuration)
    .option('--skip', 'exit code 0 instead of 75 if the lock is taken')
    .addOption(timeOption('--kill-after <time>', 'time from SIGTERM to SIGKILL if the lock is lost', 5_000))
    .action(onLocks((locks, _out, name, flags: RunFlags) => run(locks, name, command, flags), ON_STDERR));

  program
    .command('dashboard')
    .description('prints the dashboard for Grafana, as JSON')
    .allowExcessArguments(false)
    .action(() => new Output().line(JSON.stringify(dashboard(), null, 2)));

  program
    .command('alerts')
    .description('prints the alert rules for Prometheus, as YAML')
    .option(
      '--runbook-url <url>',
      'address of the runbook, for the annotation runbook_url; without an address the alerts have none',
      SITE && `${SITE}/operate/runbook.html`,
    )
    .allowExcessArguments(false)
    .action(({ runbookUrl }: { runbookUrl?: string }) => new Output().line(alertRules(runbookUrl).trimEnd()));

  return program;
}

function timeOption(flags: string, description: string, milliseconds: number): Option {
  const shown = milliseconds < 1_000 ? `${milliseconds}ms` : `${milliseconds / 1_000}s`;
  return new Option(flags, description).argParser(parseDuration).default(milliseconds, shown);
}

function exitCodeOf(error: unknown): number {
  // Commander has already printed the error, the help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
  if (error instanceof CommandError) {
    printError(error.message);
    return error.exitCode;
  }
  if (!isLockError(error)) {
    printError(stackOf(error));
    return ExitCode.failed;
  }
  printError(error.message);
  const isUsage = error.code === 'LOCK_CONFIG' || error.code === 'LOCK_KEY';
  return isUsage ? ExitCode.usage : ExitCode.unavailable;
}
