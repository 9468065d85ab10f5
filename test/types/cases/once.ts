import { Once } from 'nest-redis-lock';
import { of, type Observable } from 'rxjs';

const KEEP = { keep: '1h' } as const;

interface Report {
  day: string;
  rows: readonly { sku: string; sold: number }[];
  note?: string;
}

export class Fits {
  @Once('report:<0>', KEEP) async report(day: string): Promise<Report> {
    return { day, rows: [] };
  }
  @Once('nothing', KEEP) async nothing(): Promise<void> {}
  @Once('text', KEEP) async text(): Promise<string | undefined> {
    return undefined;
  }
  @Once((day: string) => `report:${day}`, KEEP) async byFunction(day: string): Promise<number> {
    return day.length;
  }
}

export class Generic<T extends { id: string }> {
  @Once('generic:<0.id>', KEEP) async run(item: T): Promise<string> {
    return item.id;
  }
}

export class DoesNotFit {
  @Once('report:<0.day>', KEEP) // error: nest-redis-lock:
  async wrongKey(report: { date: string }): Promise<void> {}
  @Once('stream', KEEP) // error: a method with @Once must return a Promise
  stream(): Observable<number> {
    return of(1);
  }
  @Once('value', KEEP) // error: a method with @Once must return a Promise
  value(): number {
    return 1;
  }
  @Once('dates', KEEP) // error: must return a Promise of plain JSON data
  async dates(): Promise<{ at: Date }> {
    return { at: new Date() };
  }
  @Once('map', KEEP) // error: must return a Promise of plain JSON data
  async map(): Promise<Map<string, number>> {
    return new Map();
  }
  @Once('without', {}) // error: keep
  async without(): Promise<void> {}
  @Once(['a', 'b'], KEEP) // error: not assignable to parameter of type 'string | KeyFunction'
  async several(): Promise<void> {}
}
