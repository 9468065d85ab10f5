import { join } from 'node:path';
import { Instances } from '../../support/instances.js';

/** A process, and by how many milliseconds its clock is ahead. */
export interface Replica {
  readonly name: string;
  readonly offset: number;
}

/** Two whose clocks agree and compete for each tick, and one that comes later. */
export function replicas(behind: number): Replica[] {
  return [
    { name: 'A', offset: 0 },
    { name: 'B', offset: 0 },
    { name: 'C', offset: -behind },
  ];
}

/** Starts a process for each, with its clock. */
export async function startReplicas(
  of: readonly Replica[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Instances> {
  return Instances.start({
    main: join(__dirname, '..', 'main'),
    environments: of.map(({ name, offset }) => ({
      ...env,
      INSTANCE_NAME: name,
      CLOCK_OFFSET: String(offset),
    })),
    preload: join(__dirname, 'shifted-clock'),
    signal,
  });
}
