/**
 * Names of turns for shared holds, and of what is left of them. A turn that was granted fewer holds than it wants goes
 * on as `<turn>X<holds granted so far>`: store and instance both know that name without telling each other.
 */
const REST = /X(\d+)$/;

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
