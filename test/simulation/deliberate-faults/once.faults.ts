import type { DeliberateFault } from './deliberate-fault.js';

const server = 'lib/store/memory/memory-lock-server.ts';
const once = 'lib/service/once/once.ts';
const calls = 'lib/service/once/waiting-calls.ts';

/** What could go wrong when callers share the result of one run: at the server, and in how calls use its replies. */
export const onceFaults: readonly DeliberateFault[] = [
  {
    fault: 'a run that has lost the lock keeps its result',
    file: server,
    text: 'if (known ? known.token !== token : !isOwn) return false;',
    instead: 'if (known && known.token !== token) return false;',
  },
  {
    fault: 'a repeated request to keep a result is rejected',
    file: server,
    text: 'if (known ? known.token !== token : !isOwn) return false;',
    instead: 'if (known || !isOwn) return false;',
  },
  {
    fault: 'an expired result is shared',
    file: server,
    text: 'if (kept && kept.until > this.now()) return kept;',
    instead: 'if (kept) return kept;',
  },
  {
    fault: 'keep counts from the acquire',
    file: once,
    text: 'keep: (json) => this.keep(lock, marks, call, json),',
    instead: `keep: ((since) => (json) => {
        const took = this.surroundings.engine.clock.now() - since;
        return this.keep(lock, marks, { ...call, keep: Math.max(1, call.keep - took) }, json);
      })(this.surroundings.engine.clock.now()),`,
  },
  {
    fault: 'the end of a run notifies no waiter',
    file: server,
    text: 'for (const instance of new Set(waiting)) this.inboxes.send(instance, (inbox) => inbox.done(name));',
    instead: 'void waiting;',
  },
  {
    fault: 'a waiter without a notification runs again',
    file: once,
    text: 'mark = caller.mark ?? (await unlessAborted(read(), caller.signal));',
    instead: 'mark = caller.mark; void read;',
  },
  {
    fault: 'a waiter treats a failed run as done',
    file: calls,
    text: 'if (mark) for (const call of calls) call.share(mark);',
    instead: "for (const call of calls) call.share(mark ?? { json: '' });",
  },
  {
    fault: 'a caller that gives up while it reads the result runs',
    file: once,
    text: 'mark = caller.mark ?? (await unlessAborted(read(), caller.signal));',
    instead: 'mark = caller.mark ?? (await read());',
  },
];
