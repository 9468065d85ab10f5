/** An order that was paid and recorded. */
export interface Order {
  readonly id: string;
  readonly sku: string;
  readonly quantity: number;
}
