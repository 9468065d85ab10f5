import type { LockStore } from '../../../lib/store/lock-store.js';
import type { MarkStore } from '../../../lib/store/mark.js';
import { SingleServer } from '../servers.js';
import type { OnceReferee } from './once-referee.js';

/** One Redis that reports to the referee what it does with results. */
export class OnceServer extends SingleServer {
  referee: OnceReferee | undefined;

  override clear(): void {
    this.referee?.deleted();
    super.clear();
  }

  protected override remoteOf(instance: string): LockStore {
    const remote = super.remoteOf(instance);
    return remote.marks ? { ...remote, marks: this.observed(remote.marks) } : remote;
  }

  private observed(marks: MarkStore): MarkStore {
    return {
      read: (name) => marks.read(name),
      keep: (request) => {
        const owned = this.query(request.name).held.some(({ owner }) => owner === request.owner);
        return marks.keep(request).then((isKept) => {
          this.referee?.answered(request, owned, isKept);
          return isKept;
        });
      },
      delete: (name) => {
        this.referee?.deleted(name);
        return marks.delete(name);
      },
    };
  }
}
