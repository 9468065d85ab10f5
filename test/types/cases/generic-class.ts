import { Locked } from 'nest-redis-lock';

interface Entity {
  id: string;
  parent?: string;
}

export abstract class Repository<T extends Entity> {
  @Locked('entity:<0.id>') async save(entity: T): Promise<T> {
    return entity;
  }
  @Locked('entity:<0[].id>') async saveAll(entities: T[]) {}
  @Locked(['entity:<0.id>', 'log:<1>'], { wait: 0 }) async append(entity: T, log: string) {}
  @Locked((entity: Entity) => entity.id) async remove(entity: T) {}
  @Locked('all') async clear() {}

  @Locked('entity:<0.idd>') async typo(entity: T) {} // error: "0.idd"
  @Locked('entity:<0.parent>') async optional(entity: T) {} // error: "0.parent"
  @Locked('entity:<0>') async object(entity: T) {} // error: "0"
  @Locked((entity: { name: string }) => entity.name) async other(entity: T) {} // error: the key function does not take
}

export class Unconstrained<T> {
  @Locked('entity:<0.id>') async save(entity: T) {} // error: Unless<Sentence<"0.id", Lacks<T, ["id"]>>>
}
