import { Locked } from 'nest-redis-lock';

class PlaceOrder {
  sku: string;
  note?: string;
  customer: { id: number };
}

export class Fits {
  @Locked('order:<0.sku>:<0.note>:<0.customer.id>') async properties(order: PlaceOrder) {}
  @Locked('order:<0>') async optional(id?: string) {}
  @Locked((order) => order.sku) async untyped(order: PlaceOrder) {} // error: 'never'
}

export class DoesNotFit {
  @Locked('order:<0.skuu>') async typo(order: PlaceOrder) {} // error: <0.skuu> is not a path
  @Locked('order:<1>') async missing(order: PlaceOrder) {} // error: <1> is not a path
  @Locked('order:<0>') async object(order: PlaceOrder) {} // error: <0> is not a string, number, bigint
  @Locked('order:<0>') async unknown(order: unknown) {} // error: <0> is of type unknown
  @Locked('order:<0>') async noParameters() {} // error: <0> is not a path
  @Locked('order') sync() {} // error: a locked method must return a Promise
}
