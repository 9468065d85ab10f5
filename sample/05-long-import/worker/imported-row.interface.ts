/** A row as the application has it. */
export interface ImportedRow {
  readonly row: string;
  /** Fencing token of the hold under which it was written. */
  readonly token: number;
  /** Process id of the worker. */
  readonly worker: number;
}
