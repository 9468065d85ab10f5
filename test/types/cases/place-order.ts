export enum Channel {
  Shop = 'shop',
  Phone = 'phone',
}

export type Sku = string & { readonly brand: 'Sku' };

export interface OrderLine {
  readonly sku: Sku;
  readonly count: number;
  readonly tags: readonly string[];
}

export class PlaceOrder {
  id = 1n;
  sku = '';
  channel = Channel.Shop;
  urgent = false;
  due = new Date();
  customer = { id: 7 as number | string, name: null as string | null };
  lines: readonly OrderLine[] = [];
  note?: string;
  coupon?: { code: string };
  private secret = 's';
  payload: any;
  raw: unknown;
  get total(): number {
    return this.lines.length + this.secret.length;
  }
  count(): number {
    return 1;
  }
}
