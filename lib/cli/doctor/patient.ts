import { TLSSocket } from 'node:tls';
import type { Redis } from 'ioredis';
import type { ClusterKeySpace, SingleKeySpace } from '../../store/redis/key-space.js';

/** What the application says of its locks, against which times are held. */
export interface DoctorSettings {
  readonly ttl: number;
  readonly commandTimeout: number;
  /** With a quorum. */
  readonly nodeTimeout: number | undefined;
}

export interface PatientSettings extends DoctorSettings {
  readonly keySpace: SingleKeySpace | ClusterKeySpace;
  readonly subscribe: 'subscribe' | 'ssubscribe';
  /** A key that nobody uses, in a slot that the server serves. */
  readonly key: string;
  /** A channel that nobody uses, beside it. */
  readonly channel: string;
}

/** One server that is looked at. */
export class Patient {
  private readonly besides: Redis[] = [];

  constructor(
    readonly redis: Redis,
    readonly settings: PatientSettings,
  ) {}

  get isOfCluster(): boolean {
    return this.settings.subscribe === 'ssubscribe';
  }

  /** The protocol that protects the connection, or undefined. */
  get tls(): string | undefined {
    const { stream } = this.redis;
    return stream instanceof TLSSocket ? (stream.getProtocol() ?? 'TLS') : undefined;
  }

  /** What the server says of itself; rejects where the user may not ask. */
  async info(section: string): Promise<ReadonlyMap<string, string>> {
    const fields = (await this.redis.info(section)).matchAll(/^(\w+):([^\r\n]*)/gm);
    return new Map([...fields].map(([, name = '', value = '']) => [name, value]));
  }

  /** Another connection to it. */
  async beside(): Promise<Redis> {
    const redis = this.redis.duplicate();
    redis.on('error', () => {});
    this.besides.push(redis);
    await redis.connect();
    return redis;
  }

  close(): void {
    for (const redis of [this.redis, ...this.besides]) redis.disconnect();
  }
}
