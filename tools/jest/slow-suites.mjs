// What `npm test` leaves out, so that it takes two minutes. `npx jest PATH` runs any of it.

/** Run by npm run test:slow: their time is that of leases and outages, which pass in real time, or of compilers. */
export const SLOW = [
  '/test/faults/',
  '/test/types/',
  '/test/docs/code\\.spec',
  '/test/redis/(?:blocked-event-loop|other-packages|outage|rolling-out|several-names|silent-holders)\\.spec',
  '/test/unit/engine/old-generation\\.spec',
  '/test/unit/keys/key-template-collision\\.spec',
  '/test/conformance/conformance\\.spec',
];

/** Run by npm run test:package, on the packed package. */
export const ON_THE_PACKAGE = ['/test/e2e/(?:neighbours|places)/', '/test/e2e/kept-requests\\.spec'];
