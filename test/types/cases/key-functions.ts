import { Locked, type KeySource } from 'nest-redis-lock';
import type { PlaceOrder } from './place-order.js';

const template: string = 'order:<0.whatever>';
const templates: string[] = [template];
const tenant = 'a' as 'a' | 'b';

export class Fits {
  @Locked((order: PlaceOrder) => order.sku) async one(order: PlaceOrder) {}
  @Locked((order: PlaceOrder) => order.sku) async fewerParameters(order: PlaceOrder, count: number) {}
  @Locked((order: { sku: string }) => order.sku) async widerParameter(order: PlaceOrder) {}
  @Locked((id?: string) => id ?? 'none') async optional(id?: string) {}
  @Locked((...ids: string[]) => ids) async rest(...ids: string[]) {}
  @Locked((order: PlaceOrder) => order.lines.map((line) => line.sku)) async names(order: PlaceOrder) {}
  @Locked(() => 'all') async constant(id: number) {}
  @Locked(() => ['a', 'b'] as const) async constants() {}
  @Locked(template) async onlyKnownAsString(order: PlaceOrder) {}
  @Locked(templates) async onlyKnownAsStrings(order: PlaceOrder) {}
  @Locked(`tenant-${tenant}:<0>`) async anyOfTwo(id: string) {}
}

export class DoesNotFit {
  @Locked((order: PlaceOrder) => order.sku) async otherType(id: string) {} // error: the key function does not take the parameters of the method
  @Locked((a: string, b: string) => a + b) async moreParameters(a: string) {} // error: the key function does not take
  @Locked((id: string) => id) async noParameters() {} // error: the key function does not take
  @Locked((id: string) => id) async optional(id?: string) {} // error: the key function does not take
  @Locked(() => 7) async noName() {} // error: is not assignable
  @Locked(async () => 'a') async promised() {} // error: is not assignable
  @Locked((order) => order.sku) async untyped(order: PlaceOrder) {} // error: 'never'
  @Locked(7) async number() {} // error: is not assignable
}
