// The neighbours that are tried: packages and ways to run an application around locked methods. The runner and the
// table in docs/guide/places.md read this list.

/**
 * @typedef {object} Neighbour
 * @property {string} name
 * @property {'nest-11' | 'nest-12'} group the folder whose package.json names its packages
 * @property {string} scenario a file of `scenarios`, without its extension
 * @property {string} [mode] an argument of the scenario
 * @property {readonly string[]} packages those that the table shows with their versions
 * @property {string} tried completes "tried:" in the table
 * @property {boolean} [postgres] whether the scenario needs a PostgreSQL server
 */

/** @type {readonly Neighbour[]} */
export const neighbours = [
  {
    name: 'OpenTelemetry',
    group: 'nest-11',
    scenario: 'opentelemetry',
    packages: ['@opentelemetry/instrumentation-nestjs-core'],
    tried: 'HTTP, the SDK registered before Nest is loaded; each order has its spans',
  },
  {
    name: 'Sentry',
    group: 'nest-11',
    scenario: 'sentry',
    packages: ['@sentry/nestjs'],
    tried: 'HTTP with tracing and `SentryGlobalFilter`; contention sends no event',
  },
  ...['middleware', 'guard', 'interceptor'].map((mode) => ({
    name: `nestjs-cls as ${mode}`,
    group: /** @type {const} */ ('nest-11'),
    scenario: 'cls',
    mode,
    packages: ['nestjs-cls'],
    tried: `HTTP, \`${mode}: { mount: true }\`, then a global transaction interceptor`,
  })),
];
