/** Rows that are imported together. */
export const BATCH = 10;

/** Milliseconds that a batch takes. */
export const BATCH_TIME = 750;
