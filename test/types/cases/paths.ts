import { Locked } from 'nest-redis-lock';
import type { PlaceOrder } from './place-order.js';

export class Fits {
  @Locked('nightly') async none() {}
  @Locked('a->b:<<0>') async literals() {}
  @Locked('order:all') async withoutPlaceholder(id: string) {}
  @Locked('{order}:<0>:${x}') async bracesBesidePlaceholder(id: string) {}
  @Locked('<0>::<1>/:x') async colonsBesidePlaceholder(id: string, line: string) {}
  @Locked('order:<0>') async argument(id: string) {}
  @Locked('order:<1>') async second(order: PlaceOrder, id: bigint) {}
  @Locked('order:<0.sku>') async property(order: PlaceOrder) {}
  @Locked('order:<0.sku>:<0.id>:<0.urgent>:<0.due>:<0.channel>') async scalars(order: PlaceOrder) {}
  @Locked('order:<0.total>') async getter(order: PlaceOrder) {}
  @Locked('order:<0.customer.id>') async nested(order: PlaceOrder) {}
  @Locked('order:<0.payload.anything>') async any(order: PlaceOrder) {}
  @Locked('stock:<0.warehouse>/<0.sku>') async inline(at: { warehouse: string; sku: string }) {}
  @Locked('<<<0.sku>') async afterLiteral(order: PlaceOrder) {}
  @Locked(['order:<0.sku>', 'customer:<1>']) async several(order: PlaceOrder, customer: number) {}
}

export class DoesNotFit {
  @Locked('order:<0.skuu>') async typo(order: PlaceOrder) {} // error: <0.skuu> is not a path of the method's parameters
  @Locked('<<<0.skuu>') async afterLiteral(order: PlaceOrder) {} // error: <0.skuu> is not a path
  @Locked('order:<1>') async missing(order: PlaceOrder) {} // error: <1> is not a path of the method's parameters
  @Locked('order:<0>') async noParameters() {} // error: <0> is not a path of the method's parameters
  @Locked('order:<0>') async object(order: PlaceOrder) {} // error: <0> is not a string, number, bigint, boolean or Date, use a function as the key and String() in it
  @Locked('order:<0.lines>') async array(order: PlaceOrder) {} // error: <0.lines> is not a string, number, bigint
  @Locked('order:<0.count>') async method(order: PlaceOrder) {} // error: <0.count> is not a string, number, bigint
  @Locked('order:<0.secret>') async private(order: PlaceOrder) {} // error: <0.secret> is not a path
  @Locked('order:<0.raw>') async unknown(order: PlaceOrder) {} // error: <0.raw> is of type unknown
  @Locked('order:<0.note>') async optional(order: PlaceOrder) {} // error: <0.note> may be null or undefined
  @Locked('order:<0.coupon.code>') async optionalObject(order: PlaceOrder) {} // error: <0.coupon.code> may be null or undefined
  @Locked('order:<0.customer.name>') async nullable(order: PlaceOrder) {} // error: <0.customer.name> may be null or undefined
  @Locked('order:<0.sku.length>') async intoString(order: PlaceOrder) {} // error: <0.sku.length> is not a path
  @Locked('order:<0.a>') async empty(order: {}) {} // error: <0.a> is not a path
  @Locked('order:<0.a>') async anyObject(order: object) {} // error: <0.a> is not a path
  @Locked('order:<0.a>') async weak(order: { b?: string }) {} // error: <0.a> is not a path
  @Locked('order:<0.toString>') async inherited(order: PlaceOrder) {} // error: <0.toString> is not a path
  @Locked('a:<0.sku>:<0.skuu>') async oneOfTwo(order: PlaceOrder) {} // error: <0.skuu> is not a path
  @Locked(['a:<0.sku>', 'b:<1>']) async oneOfSeveral(order: PlaceOrder) {} // error: <1> is not a path
  @Locked('order:<0') async unclosed(id: string) {} // error: <0 is not closed by >
  @Locked('order:<>') async noPath(id: string) {} // error: <> is not a path
  @Locked('order:<id>') async named(id: string) {} // error: <id> is not a path
  @Locked('order:{0}') async ofAnotherPackage(id: string) {} // error: nest-redis-lock: {0} is not a placeholder, write <0>
  @Locked('order:${id}') async ofAnInterpolation(id: string) {} // error: {id} is not a placeholder, write <0> for the first argument or <0.id> for a property of it
  @Locked(':id') async ofARoute(id: string) {} // error: :id is not a placeholder, write <0> for the first argument
  @Locked('order/:id') async ofAPath(id: string) {} // error: :id is not a placeholder, write <0> for the first argument
  @Locked('order::id') async afterAColon() {} // error: :id is not a placeholder, write <0> for the first argument
  @Locked(['order:<0>', 'log:#{1}']) async oneOfThem(id: string) {} // error: {1} is not a placeholder, write <1>
  @Locked('order:<20>') async farAway(id: string) {} // error: <20> is not a path
}
