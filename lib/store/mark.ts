/** The kept result of a run. */
export interface Mark {
  /** When the run ended, in ms since 1970 by the server's clock. */
  readonly at: number;
  readonly token: number;
  /** The result as JSON; empty for undefined. */
  readonly json: string;
}

export interface KeepRequest extends Omit<Mark, 'at'> {
  readonly name: string;
  /** The owner of the lock of the run. */
  readonly owner: string;
  /** Milliseconds for which the result is kept, from now on. */
  readonly keep: number;
  readonly releases: boolean;
}

/** The interface of stores that keep the results of runs. Requests may be sent twice. */
export interface MarkStore {
  /** Reads the mark of a name; undefined without one. */
  read(name: string): Promise<Mark | undefined>;
  /**
   * Keeps a result, notifies the waiting instances and releases the lock, in one step. Resolves to false, and does nothing,
   * if the owner no longer has the lock, or if another run has left a mark.
   */
  keep(request: KeepRequest): Promise<boolean>;
  /** Deletes the mark of a name; resolves to whether there was one. */
  delete(name: string): Promise<boolean>;
}
