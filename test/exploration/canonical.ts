import { createHash } from 'node:crypto';
import { Sharing } from '../../lib/engine/queue/sharing.js';
import type { World } from './world.js';

/** Times are below this number and fencing tokens above; durations are below {@link FIRST_TIME}. */
const FIRST_TOKEN = 1_000_000;
const FIRST_TIME = 1_000;
/** Longer than any block of tokens in these worlds: a wider gap between tokens makes no difference. */
const GAP = 40;

/** A hash that is equal for states that differ only in the time that has passed and in the tokens used so far. */
export function hashOf(world: World): string {
  const text = textOf(world);
  const tokens = new Set<number>([world.now * 1_000]);
  for (const [found] of text.matchAll(/\d{7,}/g)) tokens.add(Number(found));
  const renamed = new Map<string, number>();
  let [previous, renumbered] = [0, 0];
  for (const token of [...tokens].toSorted((a, b) => a - b)) {
    renumbered += Math.min(GAP, token - previous);
    previous = token;
    renamed.set(String(token), renumbered);
  }
  const canonical = text.replace(/\d{7,}/g, (token) => `T${renamed.get(token)}`);
  return createHash('md5')
    .update(`${renamed.get(String(world.now * 1_000))} ${canonical}`)
    .digest('base64url');
}

function textOf(world: World): string {
  const known = new Map<object, number>();
  const parts: string[] = [];
  const write = (value: unknown): void => {
    if (typeof value === 'number') {
      const isTime = value >= FIRST_TIME && value < FIRST_TOKEN;
      parts.push(isTime ? `t${value - world.now}` : String(value));
    } else if (typeof value === 'string') parts.push(value);
    else if (typeof value === 'boolean') parts.push(value ? 'yes' : 'no');
    else if (typeof value === 'object' && value !== null) {
      const number = known.get(value);
      if (number !== undefined) return void parts.push(`#${number}`);
      known.set(value, known.size);
      if (Object.isFrozen(value) || value instanceof Error) return;
      if (value instanceof Map || value instanceof Set) for (const each of value) writeItem('', each);
      else if (value instanceof Sharing) writeSharing(value);
      else
        for (const [key, each] of Object.entries(value))
          if (key !== 'spentOn' && key !== 'now') writeItem(key, each);
    }
    parts.push(' ');
  };
  const writeItem = (key: string, value: unknown): void => {
    parts.push(key, '=');
    write(value);
    parts.push(',');
  };
  const writeSharing = (sharing: Sharing): void => {
    const { passes, ...rest } = sharing as unknown as { passes: WeakMap<object, object> };
    for (const lease of [...sharing.leases.values(), ...sharing.spares]) write(passes.get(lease));
    write(rest);
  };
  write(world);
  parts.push(JSON.stringify(world.spentOn));
  return parts.join('');
}
