import { TLSSocket } from 'node:tls';
import type { Redis } from 'ioredis';
import type { KeySpace } from '../../store/redis/key-space.js';

/** The application's options, with which measured times are compared. */
export interface DoctorSettings {
  readonly ttl: number;
  readonly commandTimeout: number;
  /** Set for a quorum. */
  readonly nodeTimeout: number | undefined;
}

export interface PatientSettings extends DoctorSettings {
  readonly keySpace: KeySpace;
  readonly subscribe: 'subscribe' | 'ssubscribe';
  /** An unused key in a slot of the server. */
  readonly key: string;
  /** An unused channel in the same slot. */
  readonly channel: string;
}

/** One server to check. */
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

  /** The fields of a section of INFO; rejects if the user lacks the right. */
  async info(section: string): Promise<ReadonlyMap<string, string>> {
    const fields = (await this.redis.info(section)).matchAll(/^(\w+):([^\r\n]*)/gm);
    return new Map([...fields].map(([, name = '', value = '']) => [name, value]));
  }

  /** Opens another connection to the server. */
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
