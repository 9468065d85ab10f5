/** A later holder of the lock has been here. Nothing was read or written. */
export class StaleTokenError extends Error {
  override readonly name = 'StaleTokenError';
  readonly code = 'STALE_TOKEN';

  constructor(token: number) {
    super(`Refused: a later holder than that of token ${token} was here, or there is no such row`);
  }
}
