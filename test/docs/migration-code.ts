const IMPORTS = `
  import { Locked, RedisLockModule, type Lock, type LockOptions, type RedisLockModuleOptions, type LockService } from 'nest-redis-lock';
  import type { Redis } from 'ioredis';
`;
const SURROUNDINGS = 'locks: LockService, lock: Lock, signal: AbortSignal, client: Redis';

/** A piece of code of a table as a file that compiles only if this module has what it uses. */
export function sourceOfCell(code: string): string {
  if (code.startsWith('@')) {
    return `${IMPORTS} export class Migrated { ${code} async run(_id: string): Promise<void> {} }`;
  }
  if (/^[a-z]\w+(?:: |$)/i.test(code)) {
    const option = code.includes(':') ? code : `${code}: undefined`;
    return `${IMPORTS} export const options: LockOptions | RedisLockModuleOptions = { ${option} };`;
  }
  return `${IMPORTS} export async function migrated(${SURROUNDINGS}): Promise<void> { { ${code}; } }`;
}
