import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { JobEvents } from './job-events.js';

/** A bar for each import, on standard error where that is a terminal. */
export class ProgressBars implements Disposable {
  private readonly bars = new MultiBar(
    {
      format: '{what} {bar} {percentage} %  {news}',
      autopadding: true,
      barsize: 24,
      hideCursor: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );

  constructor(private readonly events: JobEvents) {}

  add(what: string): ProgressBar {
    const bar = this.bars.create(100, 0);
    // Not with create: where the output is no terminal, it ignores what a bar begins with.
    bar.update({ what: what.padEnd(11), news: '' });
    return new ProgressBar(bar, this.events);
  }

  [Symbol.dispose](): void {
    this.bars.stop();
  }
}

/** The bar of one import, which may take several jobs. */
export class ProgressBar {
  constructor(
    private readonly bar: SingleBar,
    private readonly events: JobEvents,
  ) {}

  follow(job: string): void {
    this.events.follow(job, ({ percent }) => percent > 0 && this.bar.update(percent));
  }

  say(news: string): void {
    this.bar.update({ news });
  }
}
