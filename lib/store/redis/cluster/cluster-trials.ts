import type { LockConfigError } from '../../../errors/lock.error.js';
import { type Receivers, Trial, type TrialSettings } from '../trial/trial.js';

/** The results of the trials of a Cluster's nodes. The instance tries each node when it begins to listen there. */
export class ClusterTrials {
  private readonly byNode = new Map<string, Trial>();

  constructor(
    private readonly settings: Omit<TrialSettings, 'where' | 'replace' | 'changed'>,
    private readonly replace: (address: string) => void,
    private readonly changed: (address: string) => void,
  ) {}

  at(address: string): Trial {
    let trial = this.byNode.get(address);
    if (!trial) {
      trial = new Trial({
        ...this.settings,
        where: address,
        replace: () => this.replace(address),
        changed: () => this.changed(address),
      });
      this.byNode.set(address, trial);
    }
    return trial;
  }

  /** Whether messages are counted. An untried node counts as equal to the others. */
  get receivers(): Receivers {
    let receivers: Receivers = 'untried';
    for (const trial of this.byNode.values()) {
      if (trial.receivers === 'uncounted') return 'uncounted';
      if (trial.receivers === 'counted') receivers = 'counted';
    }
    return receivers;
  }

  /** The reason why a node cannot be used. */
  get fault(): LockConfigError | undefined {
    return [...this.byNode.values()].find(({ fault }) => fault)?.fault;
  }

  close(): void {
    for (const trial of this.byNode.values()) trial.end();
  }
}
