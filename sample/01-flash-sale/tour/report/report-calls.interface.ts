/** What a worker can be told. */
export interface ReportCalls {
  /** Resolves to nothing when the report is complete, else to the code of the error. */
  write(worker: string): Promise<string>;
}

/** What a worker tells. */
export interface ReportNotices {
  /** Its hold of the lock begins. */
  granted(token: number): void;
}
