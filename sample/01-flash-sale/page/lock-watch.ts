import { Injectable } from '@nestjs/common';
import { isLockError, LockService } from 'nest-redis-lock';
import type { Instance } from '../instances/instance-directory.js';
import type { LockPicture } from './picture.interface.js';

/** Asks Redis who holds a lock and who waits for it. */
@Injectable()
export class LockWatch {
  constructor(private readonly locks: LockService) {}

  async isHeld(name: string): Promise<boolean> {
    const snapshot = await this.query(name);
    return snapshot !== undefined && snapshot.held.length > 0;
  }

  /** Null while Redis does not answer. */
  async look(name: string, instances: readonly Instance[]): Promise<LockPicture | null> {
    const snapshot = await this.query(name);
    if (snapshot === undefined) return null;
    const nameOf = ({ owner }: { owner: string }) => nameOfOwner(owner, instances);
    const [holder] = snapshot.held.map(nameOf);
    return { name, holder: holder ?? null, waiting: snapshot.pending.map(nameOf) };
  }

  private async query(name: string) {
    return this.locks.query(name).catch((error: unknown) => {
      if (isLockError(error)) return undefined;
      throw error;
    });
  }
}

/** An owner id is `<host>-<pid>-<random>`, with the fencing token behind it where it holds. */
function nameOfOwner(owner: string, instances: readonly Instance[]): string {
  const pid = Number(/-(\d+)-[0-9a-f]+(?:[~:]|$)/.exec(owner)?.[1]);
  return instances.find((instance) => instance.pid === pid)?.name ?? owner;
}
