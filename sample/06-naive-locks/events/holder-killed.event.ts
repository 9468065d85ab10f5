import type { ScriptedEvent } from './scripted-event.js';

export const holderKilled: ScriptedEvent = {
  title: 'holder killed at work',
  survival: 'free after the lease',
  failure: 'stuck for ever',

  async play(stage) {
    await stage.acquireAll();
    await stage.holder.kill();
    return stage.stuck(await stage.takeOver());
  },
};
