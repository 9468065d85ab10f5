import { ContenderProcess } from './contender-process.js';

/** All processes of a contest, which end with it. */
export class Contenders implements AsyncDisposable {
  private readonly started: ContenderProcess[] = [];

  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly signal: AbortSignal,
  ) {}

  start(): ContenderProcess {
    const contender = new ContenderProcess(this.env, this.signal);
    this.started.push(contender);
    return contender;
  }

  /** Resolves when all that were started are up, so that none of them is late for its part. */
  async ready(): Promise<void> {
    await Promise.all(this.started.map((contender) => contender.calls.ready()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.started.map((contender) => contender[Symbol.asyncDispose]()));
  }
}
