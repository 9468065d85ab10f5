/** The two ways to keep locks that this sample compares; also the names of the lock modules. */
export const TOPOLOGIES = ['sentinel', 'quorum'] as const;

export type Topology = (typeof TOPOLOGIES)[number];

/** Something for each of the topologies. */
export type PerTopology<T> = Readonly<Record<Topology, T>>;
