import { Command, CommanderError } from 'commander';
import { isLockError } from '../errors/lock.error.js';
import { doctor } from './doctor.command.js';
import { parseCount, parseDuration, parseWait } from './duration.js';
import { CommandError, ExitCode } from './exit-code.js';
import { ls } from './ls.command.js';
import { ALERT_RULES } from './monitoring/alert-rules.js';
import { dashboard } from './monitoring/dashboard.js';
import { Output, printError } from './output.js';
import { query } from './query.command.js';
import { release } from './release.command.js';
import { run } from './run.command.js';

const { version } = require('../../package.json') as { version: string };

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
    .exitOverride();
  const add = (usage: string, description: string): Command =>
    program
      .command(usage)
      .description(description)
      .option(
        '--url <url>',
        'redis://, rediss:// or valkey://; repeat it for several; default: REDIS_URL',
        COLLECT,
      )
      .option('--cluster', 'the URLs are nodes of a Redis Cluster')
      .option('--sentinel <name>', 'the URLs are sentinels that know the master by this name')
      .option('--prefix <prefix>', 'the keyPrefix of the application', 'lock:')
      .allowExcessArguments(false);

  const addPrinted = (usage: string, description: string, text: () => string): Command =>
    program
      .command(usage)
      .description(description)
      .allowExcessArguments(false)
      .action(() => new Output().line(text()));

  add('doctor', 'checks the server, one line per finding; exit code 0, 1 or 2 by the worst finding')
    .option('--json', 'prints JSON')
    .option('--ttl <time>', 'ttl of the application', parseDuration, 30_000)
    .option('--command-timeout <time>', 'commandTimeout of the application', parseDuration, 1_000)
    .option(
      '--node-timeout <time>',
      'advanced.nodeTimeout of the application, for a quorum',
      parseDuration,
      50,
    )
    .action(async (flags) => done(await doctor(flags)));

  add('ls [prefix]', 'lists the held names')
    .option('--json', 'prints JSON')
    .option('--limit <n>', 'at most so many', parseCount, 1_000)
    .action(async (prefix: string | undefined, flags) => done(await ls(prefix ?? '', flags)));

  add('query <name>', 'shows the holders and the waiters of a name; exit code 1: the name is free')
    .option('--json', 'prints JSON')
    .action(async (name: string, flags) => done(await query(name, flags)));

  add('release <name>', 'shows the holds of a name, asks for confirmation, and ends them')
    .option('--json', 'prints JSON; needs --force')
    .option('--force', 'does not ask')
    .action(async (name: string, flags) => done(await release(name, flags)));

  add('run <name>', 'runs a command while it holds the name')
    .usage('<name> [options] -- <command> [arguments]')
    .option(
      '--wait <time>',
      'maximum wait for the lock, 10s by default; 0 for one attempt, or forever',
      parseWait,
    )
    .option('--ttl <time>', 'lease, 30s by default', parseDuration)
    .option('--limit <n>', 'maximum number of simultaneous holders', parseCount)
    .option('--permits <n>', 'how many of them this command counts as', parseCount)
    .option('--min-hold <time>', 'minimum time for which the name stays taken', parseDuration)
    .option('--skip', 'exit code 0 instead of 75 if the lock is taken')
    .option('--kill-after <time>', 'time from SIGTERM to SIGKILL if the lock is lost', parseDuration, 5_000)
    .action(async (name: string, flags) => {
      if (command.length === 0)
        throw new CommandError('Write the command after --: run <name> -- <command>', ExitCode.usage);
      done(await run(name, command, flags));
    });

  addPrinted('dashboard', 'prints the dashboard for Grafana, as JSON', () =>
    JSON.stringify(dashboard(), null, 2),
  );
  addPrinted('alerts', 'prints the alert rules for Prometheus, as YAML', () => ALERT_RULES.trimEnd());

  return program;
}

function exitCodeOf(error: unknown): number {
  // Commander has already printed the error, the help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
  if (error instanceof CommandError) {
    printError(error.message);
    return error.exitCode;
  }
  if (!isLockError(error)) {
    printError(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return ExitCode.failed;
  }
  const isUsage = error.code === 'LOCK_CONFIG' || error.code === 'LOCK_KEY';
  printError(isUsage ? error.message : withCauses(error));
  return isUsage ? ExitCode.usage : ExitCode.unavailable;
}

/** Appends the causes of an error, which contain the reason of a failed connection. */
function withCauses(error: Error): string {
  const causes: Error[] = [];
  for (let each: unknown = error; each instanceof Error; each = each.cause) causes.push(each);
  const messages = causes.map(({ message }) => message);
  return messages.filter((each, i) => !messages.slice(0, i).some((said) => said.includes(each))).join(' ');
}
