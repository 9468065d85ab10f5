import { Injectable } from '@nestjs/common';
import { isLockError, LockService } from 'nest-redis-lock';
import type { LockPicture } from './picture.interface.js';

/** A process whose holds are shown by its name. */
export interface WatchedProcess {
  readonly name: string;
  readonly pid: number | undefined;
}

/** Asks Redis who holds a lock and who waits for it. */
@Injectable()
export class LockWatch {
  constructor(private readonly locks: LockService) {}

  async isHeld(name: string): Promise<boolean> {
    const snapshot = await this.query(name);
    return snapshot !== undefined && snapshot.held.length > 0;
  }

  /** Null while Redis does not answer. */
  async look(name: string, processes: readonly WatchedProcess[]): Promise<LockPicture | null> {
    const snapshot = await this.query(name);
    if (snapshot === undefined) return null;
    const nameOf = ({ owner }: { owner: string }) => nameOfOwner(owner, processes);
    const waiting = snapshot.pending.map(nameOf);
    const [hold] = snapshot.held;
    if (hold === undefined) return { name, holder: null, waiting };
    const { remaining, fencingToken: token } = hold;
    return { name, holder: nameOf(hold), waiting, remaining, token };
  }

  private async query(name: string) {
    return this.locks.query(name).catch((error: unknown) => {
      if (isLockError(error)) return undefined;
      throw error;
    });
  }
}

/** An owner id is `<host>-<pid>-<random>`, with the fencing token behind it where it holds. */
function nameOfOwner(owner: string, processes: readonly WatchedProcess[]): string {
  const pid = Number(/-(\d+)-v\d+-[0-9a-f]+(?:[~:]|$)/.exec(owner)?.[1]);
  return processes.find((each) => each.pid === pid)?.name ?? owner;
}
