import Table from 'cli-table3';
import type { KilledStory, StoppedStory, Story, UndisturbedStory } from './stories.js';

/** The three imports of a run. */
export interface Stories {
  readonly undisturbed: UndisturbedStory;
  readonly stopped: StoppedStory;
  readonly killed: KilledStory;
}

/** The imports side by side, for a reader. */
export function table({ undisturbed, stopped, killed }: Stories): string {
  const result = new Table({
    head: ['import', 'rows', 'twice', 'holds', 'what happened'],
    colAligns: ['left', 'right', 'right', 'right', 'left'],
    style: { head: [], border: [] },
  });
  const { meanwhile, afterwards } = undisturbed;
  result.push(
    line('undisturbed', undisturbed, [
      `second request while it ran: ${meanwhile.status}, Retry-After: ${meanwhile.retryAfter}`,
      `request after its end: ${afterwards.status}`,
    ]),
    line('stopped', stopped, [
      `lock taken away at ${stopped.stoppedAt} %: stopped after ${ms(stopped.stoppedAfter)}, job ${stopped.ended}`,
      'started again by a new request',
    ]),
    line('killed', killed, [
      `worker killed: lock free after ${ms(killed.freeAfter)}`,
      'gone on with by the next attempt of the job',
    ]),
  );
  return result.toString();
}

/** How to start and stop imports by hand. */
export function invitation(url: string, file: string): string {
  return [
    'The API and the workers keep running:',
    `  curl -i ${url}/imports -H 'content-type: application/json' -d '${JSON.stringify({ file })}'`,
    `  curl -i -X DELETE ${url}/imports/${file}`,
    'End with Ctrl-C.',
  ].join('\n');
}

function line(name: string, { rows, repeated, tokens }: Story, news: readonly string[]): (string | number)[] {
  return [name, rows, repeated, tokens.length, news.join('\n')];
}

function ms(milliseconds: number): string {
  return `${Math.round(milliseconds)} ms`;
}
