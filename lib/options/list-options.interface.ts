/** Options of a listing of held names. */
export interface ListOptions {
  /** Lists only names with this prefix. Default: all. */
  prefix?: string;
  /** Maximum number of names. Default Infinity. */
  limit?: number;
}
