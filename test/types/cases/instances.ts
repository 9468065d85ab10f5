import { Locked } from 'nest-redis-lock';
import type { PlaceOrder } from './place-order.js';

function ofRepository(this: Repository<PlaceOrder>, id: string): string {
  return `${this.name}:${id}`;
}

export class Orders {
  readonly region = 'north';
  readonly warehouse = { id: 7, name: undefined as string | undefined };
  protected readonly secret = 'x';
  constructor(private readonly cls: { get(name: string): string }) {}
  get tenant(): string {
    return this.cls.get('tenant');
  }

  @Locked('nightly:<this.tenant>') async ofInstance() {}
  @Locked('order:<this.tenant>:<0>') async ofBoth(id: string) {}
  @Locked('order:<this.tenant>:<this.region>/<this.warehouse.id>:<0.sku>') async several(order: PlaceOrder) {}
  @Locked(['order:<0>', 'tenant:<this.tenant>']) async templates(id: string) {}
  @Locked(function (this: Orders, id: string) {
    return `${this.cls.get('tenant')}:${id}:${this.secret}`;
  })
  async byFunction(id: string) {}

  @Locked('order:<this.tenat>:<0>') async typo(id: string) {} // error: <this.tenat> is not a path of the class's public properties
  @Locked('order:<this.secret>:<0>') async hidden(id: string) {} // error: <this.secret> is not a path of the class's public properties
  @Locked('order:<this.warehouse>') async object() {} // error: <this.warehouse> is not a string, number, bigint
  @Locked('order:<this.warehouse.name>') async optional() {} // error: <this.warehouse.name> may be null or undefined
  @Locked('order:<this>') async itself() {} // error: <this> is not a path
  @Locked('order:<this.tenant>:<1>') async parameter(id: string) {} // error: <1> is not a path of the method's parameters
  @Locked(ofRepository) async other(id: string) {} // error: the key function is for instances of another class
}

export abstract class Repository<T extends { sku: string }> {
  abstract readonly name: string;
  abstract readonly sample: T;
  @Locked('<this.name>:<0.sku>') async save(entity: T) {}
  @Locked('<this.sample.sku>:<0.sku>') async compare(entity: T) {}
  @Locked('<this.nam>:<0.sku>') async typo(entity: T) {} // error: <this.nam> is not a path of the class's public properties
}
