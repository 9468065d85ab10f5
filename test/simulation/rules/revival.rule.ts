import type { Court, Rule } from './court.js';

/** What an instance has released does not come back: a request that arrives after its release is granted nothing. */
export class RevivalRule implements Rule {
  constructor(private readonly court: Court) {}

  afterEvent(): void {
    const { fail, servers } = this.court;
    if (servers.revived !== undefined) fail(`A node granted ${servers.revived} again after its release`);
  }
}
