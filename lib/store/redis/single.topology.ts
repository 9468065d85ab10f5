import type { SingleConnection } from '../../options/module-options.interface.js';
import { EndpointTopology } from './endpoint.topology.js';
import { SingleKeySpace } from './key-space.js';
import { Replication } from './replicas/replication.js';
import { scanNames } from './scan-names.js';
import type { Topology, RedisStoreSettings } from './topology.js';

/** A single Redis. */
export class SingleTopology extends EndpointTopology implements Topology {
  readonly replication: Replication;

  constructor(connection: SingleConnection | undefined, settings: RedisStoreSettings) {
    const { clock, commandTimeout, keyPrefix, wake } = settings;
    super(connection, settings, (opened, scripts) => ({
      keySpace: new SingleKeySpace(keyPrefix, opened.keyPrefix, wake),
      scripts,
    }));
    this.replication = new Replication(this.connection, clock, commandTimeout);
  }

  names(beginning: string): AsyncIterable<readonly string[]> {
    const { keySpace, scripts } = this;
    const { before, unused } = keySpace;
    return scanNames({ run: scripts.run.bind(scripts), keys: [unused], before }, beginning);
  }
}
