// The package has types, but does not name them where the compiler looks.
declare module 'redlock' {
  import type { EventEmitter } from 'node:events';
  import type { Redis } from 'ioredis';

  export default class Redlock extends EventEmitter {
    constructor(clients: Iterable<Redis>);
    using<T>(resources: string[], duration: number, routine: () => Promise<T>): Promise<T>;
  }
}
