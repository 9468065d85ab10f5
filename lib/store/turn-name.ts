/**
 * The suffix in the name of a turn's remaining part. A turn that was granted fewer holds than it wants continues as
 * `<turn>X<holds granted so far>`: store and instance derive that name independently.
 */
const REST = /X(\d+)$/;

/** The prefix in the name of a turn that wants several permits for each hold. */
export function permitsMark(permits: number): string {
  return permits > 1 ? `0${permits}p` : '';
}

/** Number of permits that a turn wants for each hold. */
export function permitsEach(turn: string): number {
  return Number(/^s0(\d+)p/.exec(turn)?.[1] ?? 1);
}

/** How many of a turn's wanted holds fit into `room` permits. A turn receives no part of a hold. */
export function fitting(turn: string, wanted: number, room: number): number {
  return Math.min(wanted, Math.floor(room / permitsEach(turn)));
}

/** The name of the whole turn, from the name of a part. */
export function wholeTurn(turn: string): string {
  return turn.replace(REST, '');
}

/** Number of holds that the turn was granted before this part. */
export function hadBefore(turn: string): number {
  return Number(REST.exec(turn)?.[1] ?? 0);
}

/** The name of the remaining part, after some holds of a part were granted. */
export function turnAfter(turn: string, holds: number): string {
  return `${wholeTurn(turn)}X${hadBefore(turn) + holds}`;
}

/** Whether a part of a turn is the given one or comes after it. */
export function isFrom(part: string, first: string): boolean {
  return wholeTurn(part) === wholeTurn(first) && hadBefore(part) >= hadBefore(first);
}
