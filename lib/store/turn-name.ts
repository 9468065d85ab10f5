/**
 * Names of turns for shared holds, and of what is left of them. A turn that was granted fewer holds than it wants goes
 * on as `<turn>X<holds granted so far>`: store and instance both know that name without telling each other.
 */
const REST = /X(\d+)$/;

/**
 * What a turn's name begins with that wants so many fencing tokens for each hold, the first included. Versions that know
 * nothing of it grant one for each, and number their turns without a leading zero.
 */
export function tokensMark(each: number): string {
  return each > 1 ? `0${each}t` : '';
}

/** How many fencing tokens a turn wants for each of its holds. */
export function tokensEach(turn: string): number {
  return Number(/^s0(\d+)t/.exec(turn)?.[1] ?? 1);
}

/** The turn of which a name tells a part. */
export function wholeTurn(turn: string): string {
  return turn.replace(REST, '');
}

/** How many holds the turn had been granted before this part of it. */
export function hadBefore(turn: string): number {
  return Number(REST.exec(turn)?.[1] ?? 0);
}

/** The name of what is left when a part of a turn was granted so many holds. */
export function turnAfter(turn: string, holds: number): string {
  return `${wholeTurn(turn)}X${hadBefore(turn) + holds}`;
}

/** Whether a part of a turn is the given one or comes after it. */
export function isFrom(part: string, first: string): boolean {
  return wholeTurn(part) === wholeTurn(first) && hadBefore(part) >= hadBefore(first);
}
