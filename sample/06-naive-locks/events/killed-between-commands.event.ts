import { LOCK_KINDS } from '../locks/lock-kind.js';
import type { ScriptedEvent } from './scripted-event.js';

export const killedBetweenCommands: ScriptedEvent = {
  title: 'killed after its first command',
  survival: 'free after the lease',
  failure: 'stuck for ever',

  async play(stage) {
    const { holder } = stage;
    await Promise.all(
      LOCK_KINDS.map((kind) => holder.calls.tryAcquireWithOneCommand(kind, stage.name(kind))),
    );
    await holder.kill();
    return stage.stuck(await stage.takeOver());
  },
};
