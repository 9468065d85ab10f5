/** The locks of the contest, as rows of the table. */
export const LOCK_KINDS = [
  'INCR, DEL',
  'SETNX, DEL',
  'SETNX, EXPIRE, DEL',
  'SET NX EX, DEL',
  'nest-redis-lock',
] as const;

export type LockKind = (typeof LOCK_KINDS)[number];

/** The key that is there while somebody has the lock of a name. */
export function keyOf(kind: LockKind, name: string): string {
  return kind === 'nest-redis-lock' ? `lock:{${name}}` : name;
}

/** The name of the lock of a kind in a scene. */
export function nameIn(scene: string, kind: LockKind): string {
  return `${scene}:${kind}`;
}

/** The keys of all locks in a scene. */
export function keysOf(scene: string): string[] {
  return LOCK_KINDS.map((kind) => keyOf(kind, nameIn(scene, kind)));
}
