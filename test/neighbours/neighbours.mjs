// The neighbours that are tried: packages and ways to run an application around locked methods. The runner and the
// table in docs/guide/places.md read this list.

/** @typedef {'nats' | 'rabbitmq'} BrokerName */

/**
 * @typedef {object} Neighbour
 * @property {string} name
 * @property {'nest-11' | 'nest-12'} group the folder whose package.json names its packages: the newest versions that
 *   run on Node 20; `nest-11` for those that support no later NestJS
 * @property {string} scenario a file of `scenarios`, without its extension
 * @property {string} [mode] an argument of the scenario
 * @property {readonly string[]} packages those that the table shows with their versions
 * @property {string} tried completes "tried:" in the table
 * @property {boolean} [postgres] whether the scenario needs a PostgreSQL server
 * @property {BrokerName} [broker] the message broker that the scenario needs
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
  {
    name: 'Observe',
    group: 'nest-12',
    scenario: 'observe',
    packages: ['@nestjs/observe'],
    tried: 'HTTP, `onModuleInit`, two applications in one process; each lock has one span',
  },
  {
    name: 'TypeORM',
    group: 'nest-12',
    scenario: 'typeorm',
    packages: ['typeorm', '@nestjs/typeorm'],
    tried: 'HTTP, a `QueryRunner` in a global interceptor that calls the handler after `BEGIN`',
    postgres: true,
  },
  {
    name: 'typeorm-transactional',
    group: 'nest-12',
    scenario: 'typeorm-transactional',
    packages: ['typeorm-transactional', 'typeorm'],
    tried: 'HTTP, `@Transactional()` below `@Locked`',
    postgres: true,
  },
  {
    name: 'MikroORM',
    group: 'nest-11',
    scenario: 'mikro-orm',
    packages: ['@mikro-orm/core', '@mikro-orm/nestjs'],
    tried: "HTTP, a transaction of the request's `EntityManager` in a global interceptor",
    postgres: true,
  },
  {
    name: 'Mercurius',
    group: 'nest-12',
    scenario: 'mercurius',
    packages: ['mercurius', '@nestjs/mercurius'],
    tried: 'mutations on Fastify, with a global interceptor',
  },
  {
    name: 'gRPC',
    group: 'nest-12',
    scenario: 'grpc',
    packages: ['@grpc/grpc-js', '@nestjs/microservices'],
    tried: 'unary calls; a taken lock is `ABORTED`',
  },
  {
    name: 'MQTT',
    group: 'nest-12',
    scenario: 'mqtt',
    packages: ['mqtt', '@nestjs/microservices'],
    tried: 'messages through a broker in the same process (aedes)',
  },
  {
    name: 'NATS',
    group: 'nest-12',
    scenario: 'nats',
    packages: ['@nats-io/transport-node', '@nestjs/microservices'],
    tried: 'messages to two applications in one queue group; a nested call',
    broker: 'nats',
  },
  {
    name: 'RabbitMQ',
    group: 'nest-12',
    scenario: 'rabbitmq',
    packages: ['amqplib', 'amqp-connection-manager', '@nestjs/microservices'],
    tried: '`noAck: false` in two applications; second deliveries after a refusal and a shutdown',
    broker: 'rabbitmq',
  },
  {
    name: 'serverless-express',
    group: 'nest-12',
    scenario: 'serverless-express',
    packages: ['@codegenie/serverless-express'],
    tried: 'simultaneous events of an API Gateway in one process',
  },
  {
    name: 'node:cluster',
    group: 'nest-12',
    scenario: 'cluster',
    packages: [],
    tried: 'HTTP, three workers on one port',
  },
  {
    name: 'worker_threads',
    group: 'nest-12',
    scenario: 'worker-threads',
    packages: [],
    tried: 'an application context in each of three threads',
  },
];
