// What `npm test` leaves out, so that it takes two minutes. `npx jest PATH` runs any of it.

/**
 * Run by npm run test:slow: their time is that of leases and outages, which pass in real time, or of compilers and
 * random operations. Or they play the contract again, which npm test plays on Redis, or hold tools of the tests.
 */
export const SLOW = [
  '/test/faults/',
  '/test/types/',
  '/test/contract/lock-service\\.memory\\.spec',
  '/test/docs/code\\.spec',
  '/test/redis/(?:blocked-event-loop|other-packages|outage|refusals|repeated-requests|rolling-out|silent-holders|unusable-redis)\\.spec',
  '/test/scripts/refused-commands\\.spec',
  '/test/unit/engine/old-generation\\.spec',
  '/test/unit/keys/key-template-collision\\.spec',
  '/test/unit/support/(?:lifeline|package)\\.spec',
  '/test/conformance/',
];

/** Suites that other commands run. */
export const ELSEWHERE = [
  // npm run test:package, on the packed package: places, other packages, and each shape of a handler and its end.
  '/test/e2e/(?:neighbours|places)/',
  '/test/e2e/(?:answers-after-release|clients-that-leave|interceptor-shapes|memory-connection|release-after-commit|start-warnings|terminus)\\.spec',
  // npm run test:node-redis
  '/test/redis/node-redis(?:-losses)?\\.spec',
  // npm run test:samples
  '/test/samples/',
];
