import * as fc from 'fast-check';
import type { FaultStep, Lane, LossStep, TimedStep } from './schedule.js';
import { acquire, denial, either, fault, instance, moment, order, sharing } from './step.arbitrary.js';

/** Steps that only meet within a few milliseconds, and so would hardly ever do by chance. */
type Encounter = fc.Arbitrary<TimedStep[]>;

/** A caller that waits as long as it takes, and whose lease is renewed until its work ends. */
const steadily = {
  wait: Infinity,
  abortAfter: undefined,
  renew: true,
  minHold: 0,
  maxHold: Infinity,
  extend: undefined,
};

const soon = fc.nat({ max: 12 });
const briefly = fc.nat({ max: 40 });

/** Several callers of one instance: holds pass in memory, and turns end. */
export const callersAtOnce = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc
    .tuple(fc.array(caller(ttl), { minLength: 2, maxLength: 4 }), instance, moment)
    .map(([steps, at, after]) =>
      steps.map((step, i) => ({ after: i ? 0 : after, ...step, name: 'x', instance: at })),
    );

/** The reply to a request is lost in a break, and the server refuses the repetition. */
export const repetitionDenied = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc
    .record({
      callers: callersAtOnce(ttl, caller),
      denied: denial,
      what: fc.constantFrom('acquire' as const, 'acquire' as const, 'yield' as const),
      sent: fc.nat({ max: 6 }),
      down: fc.constantFrom(1, 3, 20),
      resends: fc.boolean(),
      lasts: fc.constantFrom(30, 100, 500),
    })
    .map(({ callers, denied, what, sent, down, resends, lasts }): TimedStep[] => {
      const at = callers[0]?.kind === 'acquire' ? callers[0].instance : 0;
      return [
        ...callers,
        { after: sent / 2, kind: 'reset', instance: at, lasts: down, resends },
        { after: 0, ...denied, what, instance: at, lasts },
      ];
    });

/** Callers of one instance meet a refusal: at first requests, and where turns end. */
export const turnDenied = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc.tuple(callersAtOnce(ttl, caller), denial, moment).map(([callers, denied, after]): TimedStep[] => {
    const at = callers[0]?.kind === 'acquire' ? callers[0].instance : 0;
    return [...callers, { after, ...denied, instance: at }];
  });

/** A waiter gives up about when the lock reaches it, and another comes right after. */
export const waiterThatComesBack = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc
    .tuple(caller(ttl), caller(ttl), caller(ttl), briefly, soon, soon)
    .map(([holder, waiter, next, work, abort, later]) => {
      const abortAfter = work + abort;
      const { instance: at } = waiter;
      return [
        { after: 0, ...holder, name: 'x', work, minHold: 0, instance: at + 1 },
        { after: 0, ...waiter, name: 'x', wait: Infinity, abortAfter },
        { after: abortAfter + later, ...next, name: 'x', instance: at },
      ];
    });

/** The waiter at the head of the queue dies before its turn. */
export const waiterThatDies = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc.tuple(caller(ttl), caller(ttl), caller(ttl), briefly).map(([holder, waiter, next, work]) => {
    const { instance: at } = waiter;
    return [
      { after: 0, ...holder, name: 'x', work: work + 20, minHold: 0, instance: at + 1 },
      { after: 4, ...waiter, name: 'x', wait: Infinity, abortAfter: undefined },
      { after: 4, ...next, name: 'x', instance: at + 2 },
      { after: 8, kind: 'crash', instance: at, noticedAfter: 0 },
    ];
  });

/** A waiter is stopped about when the lock is handed to it, and goes on about when the grant is too old. */
const waiterThatIsStopped = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc
    .tuple(caller(ttl), caller(ttl), caller(ttl), soon, fc.nat({ max: 250 }), order)
    .map(([holder, waiter, next, stop, late, sources]) => {
      const { instance: at } = waiter;
      const lasts = Math.min(waiter.ttl, 3_000) + late - 50;
      return [
        { after: 0, ...holder, name: 'x', work: 30, minHold: 0, instance: at + 1 },
        { after: 4, ...waiter, name: 'x', wait: Infinity, abortAfter: undefined },
        { after: 4, ...next, name: 'x', wait: Infinity, work: 3_000, instance: at + 2 },
        { after: 16 + stop, kind: 'freeze', instance: at, lasts, order: sources },
      ];
    });

/** A lease is changed and the answer does not arrive. */
const extensionWithoutAnswer = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc.tuple(caller(ttl), caller(ttl), ttl, soon, soon).map(([holder, waiter, shorter, extend, cut]) => [
    { after: 0, ...holder, name: 'x', work: 3_000, minHold: 0, extend: { after: extend + 5, ttl: shorter } },
    { after: cut, kind: 'cut', instance: holder.instance, what: 'replies', lasts: 4_000 },
    { after: 10, ...waiter, name: 'x', wait: Infinity, work: 3_000, instance: holder.instance + 1 },
  ]);

/** A holder works until its lease ends, and another instance waits for that. */
const leaseThatEnds = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc.tuple(caller(ttl), caller(ttl), soon).map(([holder, waiter, later]) => [
    {
      after: 0,
      ...holder,
      name: 'x',
      renew: false,
      minHold: 0,
      maxHold: Infinity,
      work: 2 * holder.ttl,
      extend: undefined,
    },
    { after: later, ...waiter, name: 'x', wait: Infinity, work: 3_000, instance: holder.instance + 1 },
  ]);

/** A turn ends while replies are slow, and its last holder does not renew. */
const turnThatEndsSlowly = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc
    .tuple(caller(ttl), caller(ttl), caller(ttl), fc.constantFrom(20, 60, 150))
    .map(([holder, follower, other, by]) => [
      { after: 0, ...holder, name: 'x', work: 30, minHold: 0 },
      {
        after: 0,
        ...follower,
        name: 'x',
        wait: Infinity,
        renew: false,
        work: 3_000,
        instance: holder.instance,
      },
      { after: 10, kind: 'slow', instance: holder.instance, what: 'replies', lasts: 60, by },
      { after: 90, ...other, name: 'x', wait: Infinity, work: 3_000, instance: holder.instance + 1 },
    ]);

/** What is sent is stuck in the network, and sent again on another connection that is faster. */
const requestOvertakenByItsSuccessor: Encounter = fc
  .tuple(instance, fc.nat({ max: 60 }), fc.constantFrom<Lane>('requests', 'replies'), fc.constantFrom(1, 20))
  .map(([at, slow, what, down]) => [
    { after: 0, kind: 'slow', instance: at, what, lasts: slow, by: 1_200 },
    { after: slow, kind: 'reset', instance: at, lasts: down, resends: true },
  ]);

/** The request that ends a turn is stuck, sent again, and arrives a second time when another instance waits. */
const turnThatEndsTwice = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc
    .tuple(caller(ttl), caller(ttl), caller(ttl), briefly, soon)
    .map(([holder, follower, other, work, later]) => {
      const { instance: at } = holder;
      return [
        { after: 0, ...holder, ...steadily, name: 'x', work: work + 10 },
        { after: 0, ...follower, ...steadily, name: 'x', work: 3_000, instance: at },
        { after: work + 8, kind: 'slow', instance: at, what: 'requests', lasts: 10, by: 500 },
        { after: 12, kind: 'reset', instance: at, lasts: 1, resends: true },
        { after: later, ...other, ...steadily, name: 'x', work: 3_000, instance: at + 1 },
      ];
    });

/** Readers who wait behind writers of their instance have the lock alone until it is shared, while something may go wrong. */
export const readersBehindWriter = (
  ttl: fc.Arbitrary<number>,
  harm: fc.Arbitrary<FaultStep | LossStep>,
): Encounter =>
  fc
    .record({
      writers: fc.tuple(acquire(ttl), acquire(ttl)),
      readers: fc.array(sharing(ttl), { minLength: 1, maxLength: 3 }),
      works: fc.array(fc.constantFrom(0, 0, 3, 60, 2_000), { minLength: 3, maxLength: 3 }),
      others: fc.array(either(ttl), { maxLength: 3 }),
      harms: fc.array(fc.tuple(harm, soon), { maxLength: 2 }),
      work: briefly,
    })
    .map(({ writers, readers, works, others, harms, work }) => {
      const [{ instance: at }] = writers;
      return [
        // The second one is granted tokens for those behind it, too.
        ...writers.map((writer, i) => ({
          after: i,
          ...writer,
          name: 'x',
          work: i === 0 ? work + 8 : (works[2] ?? 0) % 60,
          wait: Infinity,
          minHold: 0,
          instance: at,
        })),
        ...readers.map((reader, i) => ({
          after: 1,
          ...reader,
          name: 'x',
          work: works[i] ?? 0,
          minHold: 0,
          limit: Infinity,
          instance: at,
        })),
        ...others.map((other, i) => ({ after: 1, ...other, name: 'x', instance: at + 1 + (i % 2) })),
        ...harms.map(([each, later], i) => {
          const after = i === 0 ? Math.max(0, work + later - 6) : later;
          return 'instance' in each ? { ...each, after, instance: at } : { ...each, after };
        }),
      ];
    });

/** Readers and writers of several instances, done at once, whose turns end with a reader next, while something may go wrong. */
export const turnsOfReaders = (
  ttl: fc.Arbitrary<number>,
  harm: fc.Arbitrary<FaultStep | LossStep>,
): Encounter =>
  fc
    .record({
      writers: fc.array(acquire(ttl), { minLength: 3, maxLength: 3 }),
      readers: fc.array(sharing(ttl), { minLength: 3, maxLength: 8 }),
      works: fc.array(fc.constantFrom(0, 0, 0, 0, 2, 25), { minLength: 5, maxLength: 5 }),
      harms: fc.array(fc.tuple(harm, soon), { maxLength: 2 }),
    })
    .map(({ writers, readers, works, harms }) => [
      ...[...writers, ...readers].map((step, i) => ({
        after: i % 3 === 0 ? 1 : 0,
        ...step,
        name: 'x',
        minHold: 0,
        work: works[i % works.length] ?? 0,
        instance: i % 3 === 0 ? 0 : i % 2,
        ...('limit' in step ? { limit: i % 5 === 0 ? step.limit : Infinity } : {}),
      })),
      ...harms.map(([each, later]) =>
        'instance' in each
          ? { ...each, after: later, instance: each.instance % 2 }
          : { ...each, after: later },
      ),
    ]);

const harmWhileAsking = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc.tuple(caller(ttl), fault, soon).map(([step, harm, later]) => [
    { after: 0, ...step },
    { after: later, ...harm },
  ]);

/** Any of these. */
export const encounter = (ttl: fc.Arbitrary<number>, caller = acquire): Encounter =>
  fc.oneof(
    callersAtOnce(ttl, caller),
    waiterThatComesBack(ttl, caller),
    waiterThatDies(ttl, caller),
    waiterThatIsStopped(ttl, caller),
    extensionWithoutAnswer(ttl, caller),
    leaseThatEnds(ttl, caller),
    turnThatEndsSlowly(ttl, caller),
    turnThatEndsTwice(ttl, caller),
    harmWhileAsking(ttl, caller),
    requestOvertakenByItsSuccessor,
  );
