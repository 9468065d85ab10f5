import { hash } from 'node:crypto';
import { constantText } from './constants.js';
import type { Site } from './site.js';
import { sure } from './sure.js';
import type { World } from './world.js';
import { INSTANCES, NAMES } from './names.js';

/** Durations are below this number, times from here on. */
const FIRST_TIME = 1_000;
/** Times are below this number; fencing tokens from here on. */
const FIRST_TOKEN = 1_000_000;
const LAST_TOKEN = 10_000_000;
/** Longer than any block of tokens in these worlds: a wider gap between tokens makes no difference. */
const GAP = 40;
/** Stands for a token in a text. */
const TOKEN = '\uE100';
/** The first of the characters that stand for instances. */
const FIRST_ID = 0xe000;
const IDS = /[\uE000-\uE0FF]/g;

/** Part of a world: text in which tokens are left out, and the tokens. */
interface Part {
  readonly now: number;
  readonly text: string;
  readonly tokens: readonly number[];
  /** The text of an instance, which is equal for instances that differ only in their names. */
  mark?: string;
}

const strings = new Map<string, Omit<Part, 'now'>>();

/**
 * A key that is equal for states that differ only in the time that has passed, in the tokens used so far, and
 * in which of several equal instances or callers is which.
 *
 * Renaming instances is sound because none is special: a name decides nothing, and plans refer to options, which are
 * part of the text. So whatever follows in one state follows in the other, with the names exchanged.
 */
export function keyOf(world: World): string {
  const { now, sites, server } = world;
  const ofSites = sites.map((site) => written(now, siteInOrder(site)));
  const rest = [written(now, [server, world.tokens, world.revoked, world.passed])];
  const { hasRefusedEnding, hasRunLate, isCalm, left } = world;
  const flags = `${Object.values(left).join(' ')}${isCalm ? 'c' : ''}${hasRunLate ? 'l' : ''}${hasRefusedEnding ? 'r' : ''}`;
  const marks = ofSites.map((part, i) => (part.mark ??= markOf(part, i)));
  let least: string | undefined;
  for (const order of ordersOf(marks)) {
    const places = order.map((_, i) => order.indexOf(i));
    const text = textOf(now, [...order.map((i) => sure(ofSites[i])), ...rest], places);
    if (least === undefined || text < least) least = text;
  }
  return hash('md5', flags + sure(least), 'base64');
}

function markOf({ now, text, tokens }: Part, i: number): string {
  const relative = tokens.map((token) => token - now * 1_000);
  return text.replace(IDS, (id) => (idOf(id) === i ? 's' : 'o')) + relative.join(' ');
}

function idOf(character: string): number {
  return character.charCodeAt(0) - FIRST_ID;
}

/** Orders of the instances by their marks: more than one if some are equal. */
function ordersOf(marks: readonly string[]): readonly (readonly number[])[] {
  let orders: number[][] = [[]];
  const sorted = [...marks.keys()].toSorted((a, b) => (sure(marks[a]) < sure(marks[b]) ? -1 : 1));
  for (const i of sorted) {
    const mark = marks[i];
    orders = orders.flatMap((order) => {
      const first = order.findIndex((other) => marks[other] === mark);
      if (first < 0) return [[...order, i]];
      return Array.from({ length: order.length - first + 1 }, (_, n) => order.toSpliced(first + n, 0, i));
    });
  }
  return orders;
}

/** The text of parts, in which instances have the numbers of their places, and tokens only their order. */
function textOf(now: number, all: readonly Part[], places: readonly number[]): string {
  const isMoved = places.some((place, i) => place !== i);
  const tokens = [now * 1_000];
  for (const part of all) tokens.push(...part.tokens);
  let [previous, rank] = [0, 0];
  const ranks = new Map<number, number>();
  for (const token of tokens.toSorted((a, b) => a - b)) {
    if (token === previous) continue;
    rank += Math.min(GAP, token - previous);
    previous = token;
    ranks.set(token, rank);
  }
  const text = all.map((part) => part.text).join('\n');
  const named = isMoved
    ? text.replace(IDS, (id) => String.fromCharCode(FIRST_ID + sure(places[idOf(id)])))
    : text;
  return `${named}\n${tokens.map((token) => ranks.get(token)).join(' ')}`;
}

/** Writes everything that objects refer to, with times relative to `now`. */
function written(now: number, content: unknown): Part {
  const known = new Map<object, number>();
  const tokens: number[] = [];
  let text = '';
  const write = (value: unknown): void => {
    switch (typeof value) {
      case 'number':
        return writeNumber(value);
      case 'string': {
        const template = templateOf(value);
        text += template.text;
        tokens.push(...template.tokens);
        return;
      }
      case 'boolean':
        text += value ? '+' : '-';
        return;
      case 'object':
        return value === null ? undefined : writeObject(value);
      default:
        text += '_';
    }
  };
  const writeNumber = (value: number): void => {
    if (value < FIRST_TIME || value === Infinity) text += value;
    else if (value < FIRST_TOKEN || value >= LAST_TOKEN) text += `t${value - now}`;
    else {
      text += TOKEN;
      tokens.push(value);
    }
  };
  const writeObject = (value: object): void => {
    const number = known.get(value);
    if (number !== undefined) return void (text += `#${number}`);
    known.set(value, known.size);
    const constant = constantText(value);
    if (constant !== undefined) return void (text += constant);
    text += '(';
    if (Array.isArray(value)) for (const each of value) writeItem(each);
    else if (value instanceof Map)
      for (const [item, each] of value) {
        write(item);
        writeItem(each);
      }
    else if (value instanceof Set) for (const each of value) writeItem(each);
    else for (const key in value) writeField(key, (value as Record<string, unknown>)[key]);
    text += ')';
  };
  const writeItem = (value: unknown): void => {
    write(value);
    text += ' ';
  };
  const writeField = (key: string, value: unknown): void => {
    // A missing field is equal to an undefined one. The times of refusals concern the log alone.
    if (value === undefined || typeof value === 'function' || key === 'refusals') return;
    text += `${key}:`;
    writeItem(value);
  };
  write(content);
  return { now, text, tokens };
}

/** A string that tokens and instances are left out of. Names of instances are only at its beginning. */
function templateOf(text: string): Omit<Part, 'now'> {
  const known = strings.get(text);
  if (known) return known;
  const tokens: number[] = [];
  const template = text
    .replace(/^[abc]-1-v1-0{12}/, (id) => String.fromCharCode(FIRST_ID + INSTANCES.indexOf(id)))
    .replace(/\d{7,}/g, (token) => {
      tokens.push(Number(token));
      return TOKEN;
    });
  const made = { text: template, tokens };
  strings.set(text, made);
  return made;
}

/** Callers with equal options are written in an order that does not depend on their numbers. */
function siteInOrder({ callers, content, engine }: Site): unknown {
  const lines = NAMES.map((name) =>
    [...(engine.queues.get(name)?.record.line ?? [])].map(({ options }) => options),
  );
  const marked = callers.map(
    ({ hold, isOver, of, options, phase, result, returned, role, signalled, startedAt }) => {
      const place = signalled ? sure(lines[of]).indexOf(signalled) : -1;
      const since = phase === 'waits' || phase === 'finishes' ? startedAt : 0;
      const own = [of, role, phase, isOver, result, returned, place, since];
      const mark = [...own, constantText(options), hold?.owner].join(' ');
      return { mark, caller: [...own, options, hold] };
    },
  );
  marked.sort((a, b) => (a.mark < b.mark ? -1 : 1));
  return [marked.map(({ caller }) => caller), content];
}
