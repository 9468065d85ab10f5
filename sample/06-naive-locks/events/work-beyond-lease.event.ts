import type { ScriptedEvent } from './scripted-event.js';

export const workBeyondLease: ScriptedEvent = {
  title: 'work of three leases',
  survival: 'one holder',
  failure: 'two holders',

  async play(stage) {
    await stage.acquireAll();
    const taken = await stage.takeOver();
    const believed = await stage.believedHeld(stage.holder);
    return taken.filter((kind) => believed.includes(kind));
  },
};
