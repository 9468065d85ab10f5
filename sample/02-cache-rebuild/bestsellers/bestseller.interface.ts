/** A product, and how many pieces of it were sold. */
export interface Bestseller {
  readonly sku: string;
  readonly pieces: number;
}
