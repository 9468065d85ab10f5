/** Which of the held names to list. */
export interface ListOptions {
  /** Only names that begin so. Default: all. */
  prefix?: string;
  /** At most so many. Default Infinity. */
  limit?: number;
}
