import { type Duration, Locked, type LockedOptions } from 'nest-redis-lock';
import type { PlaceOrder } from './place-order.js';

const byId = (id: string): string => id;
const sameAsKey: LockedOptions<Parameters<typeof byId>> = { onTimeout: (error, id) => id };
const LEASE = '10s';
declare const configured: Duration;
const shared: LockedOptions = { wait: 0, module: 'reports' };

export class Fits {
  @Locked('x:<0>', { ttl: 1_000, wait: Infinity, renew: false }) async acquire(id: string) {}
  @Locked('x:<0>', { ttl: '1.5s', wait: '500ms', maxHold: '1h', minHold: '1d' }) async text(id: string) {}
  @Locked('x:<0>', 'checkout') async preset(id: string) {}
  @Locked(byId, 'checkout') async presetOfFunction(id: string) {}
  @Locked('x:<0>', { preset: 'checkout', onTimeout: 'skip' }) async presetAndOptions(id: string) {}
  @Locked('x:<0>', { ttl: LEASE, wait: configured }) async variables(id: string) {}
  @Locked('x:<0>', { onTimeout: 'skip', module: 'reports' }) async skip(id: string) {}
  @Locked('x:<0>', { onTimeout: (error) => error.waited }) async errorOnly(id: string) {}
  @Locked('x:<0>', { onTimeout: (error, id: string) => error.holder ?? id }) async sameParameters(
    id: string,
  ) {}
  @Locked('x:<0>', { onTimeout: (error, id: string) => id }) async fewerParameters(
    id: string,
    count: number,
  ) {}
  @Locked('x:<0>', { onTimeout: (error, ...args: unknown[]) => args }) async anyParameters(id: string) {}
  @Locked((id: string) => id, { onTimeout: (error, id: string) => id }) async withFunction(id: string) {}
  @Locked('x:<0>', shared) async shared(id: string) {}
  @Locked('x:<0>', { mode: 'shared' }) async read(id: string) {}
  @Locked('x:<0>', { mode: 'shared', limit: 5 }) async permit(id: string) {}
  @Locked('x:<0>', { mode: 'shared', limit: 5, permits: 2 }) async permits(id: string) {}
  @Locked('x:<0>', { mode: 'exclusive' }) async write(id: string) {}
}

export class DoesNotFit {
  @Locked('x:<0>', { onTimeout: (error, id: number) => id }) async otherType(id: string) {} // error: the onTimeout function does not take the parameters of the method
  @Locked(byId, sameAsKey) async wider(id: unknown) {} // error: the key function does not take
  @Locked('x', { onTimeout: (error, id: number) => id }) async noParameters() {} // error: the onTimeout function does not take
  @Locked('x:<0>', { onTimeout: 'ignore' }) async otherWord(id: string) {} // error: "ignore"
  @Locked('x:<0>', { wiat: 5 }) async unknownOption(id: string) {} // error: 'wiat' does not exist
  @Locked('x:<0>', { timeout: 5_000 }) async optionOfOthers(id: string) {} // error: 'timeout' does not exist
  @Locked('x:<0>', { mode: 'read' }) async otherMode(id: string) {} // error: "read"
  @Locked('x:<0>', { mode: 'shared', limit: '5' }) async textLimit(id: string) {} // error: is not assignable to type 'number'
  @Locked('x:<0>', { mode: 'shared', permits: 'all' }) async textPermits(id: string) {} // error: is not assignable to type 'number'
  @Locked('x:<0.skuu>', 'checkout') async presetAndTypo(order: PlaceOrder) {} // error: <0.skuu> is not a path
  @Locked('x:<0>', { preset: 5 }) async otherPreset(id: string) {} // error: is not assignable to type 'string'
  @Locked('x:<0>', { wait: '5 sec' }) async otherUnit(id: string) {} // error: is not assignable to type 'Duration | undefined'
  @Locked('x:<0>', { wait: '5' }) async noUnit(id: string) {} // error: is not assignable to type 'Duration | undefined'
  @Locked('x:<0>', { wait: 's' }) async noNumber(id: string) {} // error: is not assignable to type 'Duration | undefined'
  @Locked('x:<0.skuu>', { wait: 5 }) async typo(order: PlaceOrder) {} // error: <0.skuu> is not a path
}
