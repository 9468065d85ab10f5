/** A later holder has written the row: this hold was lost, and nothing was written. */
export class StaleTokenError extends Error {
  constructor(row: string, token: number) {
    super(`Row "${row}" was not written: it is missing, or has a fencing token above ${token}.`);
    this.name = 'StaleTokenError';
  }
}
