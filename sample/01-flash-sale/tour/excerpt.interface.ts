/** Lines of a source file that the sample runs. */
export interface Excerpt {
  readonly file: string;
  readonly lines: readonly string[];
}
