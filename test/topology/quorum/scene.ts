import type { Redis } from 'ioredis';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { IndependentMasters, type IndependentMaster } from '../../support/independent-masters.js';
import { waitFor } from '../../support/wait-for.js';

export const NODES = 5;
export const MAJORITY = 3;
export const ALL: readonly number[] = Array.from({ length: NODES }, (_, node) => node);

/** Milliseconds until all nodes take part, on a busy machine. */
const WHOLE = 20_000;

/** Each subset of the nodes, as the indexes in it: all 32 of five. */
export const SUBSETS: readonly (readonly number[])[] = Array.from({ length: 2 ** NODES }, (_, bits) =>
  ALL.filter((node) => (bits & (1 << node)) !== 0),
);

/** A subset as a test's name shows it. */
export function named(subset: readonly number[]): string {
  return subset.length === 0 ? 'none' : `nodes ${subset.map((node) => node + 1).join(', ')}`;
}

/** A way in which nodes fail to answer. */
interface Outage {
  readonly fault: string;
  begin(node: number): Promise<unknown>;
  end(node: number): Promise<unknown>;
}

/** @param scene - Asked when an outage begins: tests are named before there is one. */
export function outagesOf(scene: () => QuorumScene): readonly Outage[] {
  const server = (node: number): IndependentMaster['server'] => scene().node(node).server;
  return [
    { fault: 'down', begin: (node) => server(node).kill(), end: (node) => server(node).start() },
    {
      fault: 'hanging',
      begin: async (node) => server(node).freeze(),
      end: async (node) => server(node).thaw(),
    },
  ];
}

/** Five independent servers, and instances of which a test may see everything. */
export class QuorumScene implements AsyncDisposable {
  private readonly instances: Instance[] = [];
  private readonly clients = new Map<number, Redis>();

  private constructor(private readonly masters: IndependentMasters) {}

  static async start(): Promise<QuorumScene> {
    return new QuorumScene(await IndependentMasters.start(NODES));
  }

  get nodes(): readonly IndependentMaster[] {
    return this.masters.nodes;
  }

  get urls(): string[] {
    return this.masters.urls;
  }

  node(index: number): IndependentMaster {
    const node = this.nodes[index];
    if (!node) throw new Error(`There is no node ${index}.`);
    return node;
  }

  /** With all connections made and the nodes' clocks known. Nodes have long to answer: the machine may be busy. */
  async instance(options: InstanceOptions = {}): Promise<Instance> {
    const instance = new Instance({ connection: this.urls, nodeTimeout: 2_000, ...options });
    this.instances.push(instance);
    await this.isWhole(instance);
    return instance;
  }

  /**
   * Waits until an instance is granted and confirmed by every node, not by a majority alone. Each must also answer it: a
   * node runs what it was sent before it froze, although the instance has left that connection meanwhile.
   */
  async isWhole(instance: Instance): Promise<void> {
    const name = `whole:${instance.name}`;
    await waitFor(
      async () => {
        await using lock = await instance.locks.acquire(name);
        const copies = await this.owners(name);
        const nodes = (await instance.store.operations.nodes?.(WHOLE)) ?? [];
        return (
          lock.held &&
          copies.every((owner) => owner?.startsWith(instance.name)) &&
          nodes.every(({ trouble }) => trouble === undefined)
        );
      },
      { timeout: WHOLE, that: 'all nodes to take part' },
    );
  }

  /** The owner that each of the nodes, asked directly, names; null for a free lock. */
  async owners(name: string, nodes: readonly number[] = ALL): Promise<(string | null)[]> {
    return Promise.all(nodes.map((index) => this.client(index).get(`lock:{${name}}`)));
  }

  /** A client of a node itself, past its network. */
  client(index: number): Redis {
    let client = this.clients.get(index);
    if (!client) this.clients.set(index, (client = this.node(index).server.client()));
    return client;
  }

  /** Waits until these servers have answered, past their network. */
  async ping(nodes: readonly number[] = ALL): Promise<void> {
    await Promise.all(nodes.map((index) => this.client(index).ping()));
  }

  async endInstances(): Promise<void> {
    await Promise.all(this.instances.splice(0).map((instance) => instance[Symbol.asyncDispose]()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endInstances();
    await this.masters.stop();
  }
}
