import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Excerpt } from './excerpt.interface.js';

/** Source files of each stop of the tour. The part between `#region tour` and `#endregion` is shown. */
export const SOURCES = {
  sale: ['01-flash-sale/orders/orders.controller.ts'],
  fencing: [
    '04-fenced-writes/accounts/fenced-deposits.service.ts',
    '04-fenced-writes/fencing/fenced-update.ts',
  ],
  takeover: ['01-flash-sale/tour/report/report.service.ts'],
} as const;

export type TourStop = keyof typeof SOURCES;

export function isTourStop(name: string): name is TourStop {
  return Object.hasOwn(SOURCES, name);
}

/** @throws Error when a file has no such region. */
export async function excerptsOf(stop: TourStop): Promise<Excerpt[]> {
  return Promise.all(SOURCES[stop].map(excerptOf));
}

async function excerptOf(path: string): Promise<Excerpt> {
  const source = await readFile(join(__dirname, '..', '..', path), 'utf8');
  const [, code] = /\/\/ #region tour\n([^]*?)\n *\/\/ #endregion/.exec(source) ?? [];
  if (code === undefined) throw new Error(`${path} has no region for the tour`);
  const lines = code.split('\n');
  const indent = /^ */.exec(code)?.[0].length;
  return { file: basename(path), lines: lines.map((line) => line.slice(indent)) };
}
