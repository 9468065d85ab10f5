import * as fc from 'fast-check';
import type { QuorumTerms, Schedule, Step, TimedStep } from '../schedule.js';
import { acquire, crash, fault, moment, order, steady } from '../step.arbitrary.js';

/** One in four faults strikes at all nodes. */
const node = fc.option(fc.nat({ max: 4 }), { nil: undefined, freq: 4 });
const ttl = fc.constantFrom(4_000, 1_000, 300);

const one = (step: fc.Arbitrary<Step>, at: fc.Arbitrary<number | undefined>): fc.Arbitrary<TimedStep[]> =>
  fc.tuple(moment, step, at).map(([after, timed, where]): TimedStep[] => [{ ...timed, after, node: where }]);

const nowhere = fc.constant(undefined);

/** Callers of several instances within a trip, so that votes split. */
const rivals = fc
  .tuple(fc.array(acquire(ttl), { minLength: 2, maxLength: 4 }), moment, fc.nat({ max: 2 }))
  .map(([callers, after, apart]) =>
    callers.map((step, i): TimedStep => ({ ...step, name: 'x', instance: i, after: i ? apart : after })),
  );

/** Somebody comes when the lock is released, while a waiter is on its way to it; all know the clocks of the nodes. */
const newcomer = fc
  .tuple(acquire(ttl), acquire(ttl), acquire(ttl), fc.nat({ max: 12 }), fc.nat({ max: 12 }))
  .map(([holder, waiter, late, work, comes]): TimedStep[] => [
    ...[0, 1, 2].map((instance): TimedStep => ({ ...holder, after: 0, name: 'y', instance, work: 0 })),
    { ...holder, after: 60, name: 'x', instance: 0, work: work + 150 },
    { ...waiter, after: 10, name: 'x', instance: 1, wait: Infinity, abortAfter: undefined, limit: undefined },
    { ...late, after: work + 134 + comes, name: 'x', instance: 2 },
  ]);

/** A caller is stopped about when its votes are on their way, for about as long as its lease runs, while another comes. */
const frozenVoter = fc
  .record({
    voter: acquire(fc.constantFrom(1_000, 300)),
    other: acquire(ttl),
    stop: fc.nat({ max: 6 }),
    late: fc.constantFrom(-100, 0, 50, 400),
    sources: order,
    comes: fc.constantFrom(1, 50, 300, 900),
  })
  .map(({ voter, other, stop, late, sources, comes }): TimedStep[] => [
    { ...voter, after: 20, name: 'x', wait: Infinity, abortAfter: undefined, instance: 0, work: 2_000 },
    { after: stop / 2, kind: 'freeze', instance: 0, lasts: voter.ttl + late, order: sources },
    { ...other, after: comes, name: 'x', wait: Infinity, abortAfter: undefined, instance: 1, work: 3_000 },
  ]);

/** The nodes answer a holder after its lease has begun to run out, or lose what it asks of them. */
const lateVotes = fc
  .record({
    voter: acquire(ttl),
    other: acquire(ttl),
    what: fc.constantFrom('requests' as const, 'replies' as const),
    by: fc.constantFrom(20, 60, 300, 1_200),
    nodes: fc.subarray([0, 1, 2, 3, 4], { minLength: 1, maxLength: 3 }),
  })
  .map(({ voter, other, what, by, nodes }): TimedStep[] => [
    ...nodes.map((at, i): TimedStep => ({
      after: i ? 0 : 20,
      kind: 'slow',
      instance: 0,
      what,
      lasts: 30,
      by,
      node: at,
    })),
    { ...voter, after: 2, name: 'x', instance: 0 },
    { ...other, after: 10, name: 'x', instance: 1, wait: Infinity },
  ]);

const quorum = (nodeTimeouts: fc.Arbitrary<number>): fc.Arbitrary<QuorumTerms> =>
  fc.record({
    nodeTimeout: nodeTimeouts,
    clocks: fc.constantFrom(3, 3, 5).chain((nodes) =>
      fc.array(
        fc.record({
          ahead: fc.constantFrom(0, 0, 1, 40, 900, 5_000),
          drift: fc.integer({ min: -2, max: 2 }),
        }),
        { minLength: nodes, maxLength: nodes },
      ),
    ),
    dice: fc.array(fc.constantFrom(0, 0.2, 0.5, 0.9), { minLength: 1, maxLength: 4 }),
  });

const schedule = (
  steps: fc.Arbitrary<TimedStep[]>,
  latency: fc.Arbitrary<number>,
  nodeTimeouts: fc.Arbitrary<number>,
): fc.Arbitrary<Schedule> =>
  fc.record({
    // Together with the clock of a node not more than what a lease allows for.
    drifts: fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 2, maxLength: 4 }),
    budget: fc.oneof(
      fc.record({ max: fc.constantFrom(1, 2, 32), window: fc.constantFrom(0, 20, 1_000) }),
      fc.constant({ max: 32, window: 1_000 }),
    ),
    latencies: fc.array(latency, { minLength: 1, maxLength: 5 }),
    straggle: fc.option(fc.constantFrom(10, 100, 700, 3_000), { nil: undefined, freq: 2 }),
    quorum: quorum(nodeTimeouts),
    steps: fc.array(steps, { minLength: 1, maxLength: 8 }).map((groups) => groups.flat()),
  });

const calm = schedule(
  fc.oneof(
    { weight: 6, arbitrary: one(acquire(ttl), nowhere) },
    { weight: 3, arbitrary: rivals },
    { weight: 2, arbitrary: newcomer },
    { weight: 1, arbitrary: one(crash, nowhere) },
  ),
  fc.constantFrom(1, 0.2, 3),
  fc.constant(50),
);

/** Nothing goes wrong but that processes die. */
export const calmQuorumSchedule = fc.oneof(calm, steady(calm));

/** Nodes and ways to them fail, one by one or all at once; processes are stopped. The nodes keep their data. */
export const stormyQuorumSchedule = schedule(
  fc.oneof(
    { weight: 6, arbitrary: one(acquire(ttl), nowhere) },
    { weight: 3, arbitrary: rivals },
    { weight: 2, arbitrary: frozenVoter },
    { weight: 2, arbitrary: lateVotes },
    { weight: 6, arbitrary: one(fault, node) },
    { weight: 1, arbitrary: one(crash, nowhere) },
  ),
  fc.constantFrom(1, 0.2, 3, 12),
  fc.constantFrom(50, 200),
);

/** A schedule of either kind. */
export const anyQuorumSchedule = fc.oneof(calmQuorumSchedule, stormyQuorumSchedule);
