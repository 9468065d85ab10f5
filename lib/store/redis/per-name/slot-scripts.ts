import type { RedisConnection } from '../connection/connection.js';
import type { RunArguments, ScriptRunner, Scripts } from '../connection/script-runner.js';
import { slotOf } from '../connection/slot-of.js';

/** Runs scripts, each with keys of one slot, through one endpoint behind which each slot may be on another server. */
export class SlotScripts implements Scripts {
  readonly isIdle = true;

  constructor(
    private readonly connection: RedisConnection,
    private readonly runner: ScriptRunner,
  ) {}

  run(...call: RunArguments): Promise<unknown> {
    this.connection.commands.cork();
    return this.runner.run(...call);
  }

  runPatiently(...call: RunArguments): Promise<unknown> {
    this.connection.commands.cork();
    return this.runner.runPatiently(...call);
  }

  serverOf([key = '']: readonly string[]): string {
    return String(slotOf(this.connection.keyPrefix + key));
  }
}
