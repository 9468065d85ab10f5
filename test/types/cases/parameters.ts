import { Locked } from 'nest-redis-lock';
import type { OrderLine, PlaceOrder } from './place-order.js';

type Payment = { kind: 'card'; ref: string } | { kind: 'cash'; till: number };

export class Fits {
  @Locked('x:<0>') async union(id: 'a' | 7 | bigint) {}
  @Locked('x:<0.kind>') async commonProperty(payment: Payment) {}
  @Locked('x:<0>:<0.a>:<0[].b>') async any(anything: any) {}
  @Locked('x:<0>') async withDefault(id: string, count = 1) {}
  @Locked('x:<0>') async anyArguments(...anything: any[]) {}
  @Locked('x:<0>') async beforeRest(first: string, ...others: string[]) {}
  @Locked('x:<0>:<1>') async restTuple(...pair: [string, number]) {}
  @Locked('x:<0.sku>') async generic<T extends PlaceOrder>(order: T): Promise<T> {
    return order;
  }
  @Locked('x:<0.colour>') async dictionary(properties: Record<string, string>) {}
  @Locked('x:<0[]>') async array(ids: readonly number[]) {}
  @Locked('x:<0.lines[].sku>') async elements(order: PlaceOrder) {}
  @Locked('x:<0.lines[].tags[]>') async elementsOfElements(order: PlaceOrder) {}
  @Locked('x:<0[][]>') async matrix(ids: string[][]) {}
  @Locked('x:<0.1.sku>') async tuple(pair: [number, PlaceOrder]) {}
  @Locked('x:<0[]>') async tupleElements(pair: readonly [number, string]) {}
  @Locked('x:<0.0>') async elementOfArray(ids: string[]) {}
  @Locked('x:<0>') private async hidden(id: string) {}
  @Locked('x:<0>') protected async inherited(id: string) {}
}

export class DoesNotFit {
  @Locked('x:<0>') async optional(id?: string) {} // error: <0> may be null or undefined
  @Locked('x:<0>') async withDefault(id = 'a') {} // error: <0> may be null or undefined, make it required without a default or use a function
  @Locked('x:<0>') async orUndefined(id: string | undefined) {} // error: <0> may be null or undefined
  @Locked('x:<0.kind>') async orNull(payment: Payment | null) {} // error: <0.kind> may be null or undefined
  @Locked('x:<0>') async unknown(id: unknown) {} // error: <0> is of type unknown
  @Locked('x:<0.id>') async unknownObject(order: unknown) {} // error: <0.id> is of type unknown
  @Locked('x:<0>') async symbol(id: symbol) {} // error: <0> is not a string, number, bigint, boolean or Date
  @Locked('x:<0>') async partlyScalar(id: string | PlaceOrder) {} // error: <0> is not a string, number, bigint
  @Locked('x:<0.ref>') async notInAllMembers(payment: Payment) {} // error: <0.ref> is not a path
  @Locked('x:<0.skuu>') async generic<T extends PlaceOrder>(order: T) {} // error: <0.skuu> is not a path
  @Locked('x:<0.id>') async unconstrained<T>(order: T) {} // error: <0.id> is of type unknown, declare what it is, or constrain its type parameter
  @Locked('x:<0>') async rest(...ids: string[]) {} // error: <0> is only one element of a rest parameter, use a function as the key: (...all) => all.map(
  @Locked('x:<0.sku>') async restOfObjects(...orders: PlaceOrder[]) {} // error: <0.sku> is only one element of a rest parameter
  @Locked('x:<0>:<1>') async restAfter(first: string, ...others: string[]) {} // error: <1> is only one element of a rest parameter
  @Locked(['x:<0>', 'y:<2.sku>']) async oneOfSeveral(first: string, ...orders: PlaceOrder[]) {} // error: <2.sku> is only one element of a rest parameter
  @Locked('x:<2>') async beyondTuple(...pair: [string, string]) {} // error: <2> is not a path
  @Locked('x:<0.2>') async beyondPair(pair: [string, string]) {} // error: <0.2> is not a path
  @Locked('x:<0[].skuu>') async typoInElement(lines: OrderLine[]) {} // error: <0[].skuu> is not a path
  @Locked('x:<0[]>') async elementsAreObjects(lines: OrderLine[]) {} // error: <0[]> is not a string, number, bigint
  @Locked('x:<0.sku>') async forgottenBrackets(lines: OrderLine[]) {} // error: <0.sku> is not a path
  @Locked('x:<0[]>') async noArray(order: PlaceOrder) {} // error: <0[]> is not a path
  @Locked('x:<0[]>') async stringIsNoArray(id: string) {} // error: <0[]> is not a path
  @Locked('x:<0[]>') async optionalElements(ids: (string | undefined)[]) {} // error: <0[]> may be null or undefined
  @Locked('x:<0[]>') async optionalArray(ids?: string[]) {} // error: <0[]> may be null or undefined
}
