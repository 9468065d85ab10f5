import { setTimeout as delay } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { LockService } from 'nest-redis-lock';
import { waitFor } from '../support/wait-for.js';
import { ComposedApplication } from './application.js';
import type { Composition } from './composition.js';
import { LiveTimers } from './live-timers.js';
import type { Remains } from './remains.js';
import { Scene } from './scene.js';
import { gatewayTransport } from './transports/gateway.transport.js';
import { graphqlTransport } from './transports/graphql.transport.js';
import { grpcTransport } from './transports/grpc.transport.js';
import { httpTransport } from './transports/http.transport.js';
import { tcpTransport } from './transports/tcp.transport.js';
import type { Call, Running, Transport } from './transports/transport.js';
import { behindProxy, instrument, uninstrument } from './wrappings.js';

/** Milliseconds within which each request has its answer: none of them waits as long for its lock. */
const PATIENCE = 5_000;

/** All requests of an application share the instances of durable providers. */
const tenant = ContextIdFactory.create();
ContextIdFactory.apply({
  attach: (contextId) => (info) => (info.isTreeDurable ? tenant : contextId),
});

function transportOf(composition: Composition): Transport {
  const { transport } = composition;
  if (transport === 'tcp') return tcpTransport;
  if (transport === 'ws') return gatewayTransport;
  if (transport === 'graphql') return graphqlTransport;
  if (transport === 'grpc') return grpcTransport(composition);
  return httpTransport(composition);
}

/** Builds the application of a composition, sends the requests, and rejects if a rule was broken. */
export async function play(composition: Composition): Promise<Remains> {
  const scene = new Scene(composition);
  const timers = new LiveTimers();
  const rejected = (reason: unknown): void => scene.fail('process', `unhandled rejection: ${String(reason)}`);
  process.on('unhandledRejection', rejected);
  const over = new AbortController();
  try {
    await Promise.race([run(composition, scene), tooLong(scene, over.signal)]);
    for (const timer of timers.left()) scene.fail('app', `leaves a timer: ${timer}`);
  } finally {
    over.abort();
    timers.end();
    process.off('unhandledRejection', rejected);
  }
  const remains = scene.remains();
  if (scene.violations.length === 0) return remains;
  remains.clear();
  throw new Error(`${scene.violations.join('\n')}\n\n${JSON.stringify(composition)}\n${scene.log}\n`);
}

async function run(composition: Composition, scene: Scene): Promise<void> {
  const transport = transportOf(composition);
  const application = new ComposedApplication(composition, scene, transport);
  if (composition.wrapping === 'agent') instrument();
  let running: Running;
  try {
    running = await transport.start(application.module, scene, {
      abortOnError: false,
      logger: loggerOf(scene),
      ...(composition.wrapping === 'proxy' && {
        instrument: {
          instanceDecorator: (instance: unknown) =>
            application.isOwn(instance) ? behindProxy(instance) : instance,
        },
      }),
    });
  } finally {
    uninstrument();
  }
  const locks = running.app.get(LockService);
  scene.runs(locks);
  try {
    const references = await Promise.all(
      composition.clients.map((_client, i) =>
        answerTo(running.call(`plain${i}`, 'plain'), scene, `plain${i}`),
      ),
    );
    const closing = closesLater(composition, scene, running);
    await Promise.all(
      composition.clients.map((_client, i) => request(composition, scene, running, references, i)),
    );
    await settled(scene);
    if (composition.shutdown === undefined) await assertFree(scene, locks);
    running.disconnect();
    await closing;
  } finally {
    running.disconnect();
    await running.app.close();
    scene.assertNothingRuns();
  }
}

/** Notes a composition that does not come to its end. */
async function tooLong(scene: Scene, over: AbortSignal): Promise<void> {
  await delay(3 * PATIENCE, undefined, { signal: over }).then(
    () => scene.fail('app', 'does not end'),
    () => {},
  );
}

async function closesLater({ shutdown }: Composition, scene: Scene, { app }: Running): Promise<void> {
  if (shutdown === undefined) return;
  await delay(shutdown);
  scene.stops();
  await app.close();
}

/** Sends the request of one client. */
async function request(
  { clients }: Composition,
  scene: Scene,
  running: Running,
  references: readonly string[],
  i: number,
): Promise<void> {
  const { at = 0, leaves, afterArrival = false } = clients[i] ?? {};
  if (at > 0) await delay(at);
  const id = `client${i}`;
  const call = running.call(id, 'work');
  const answering = answerTo(call, scene, id);
  if (leaves !== undefined) {
    const begins = afterArrival ? scene.arrival(id) : Promise.resolve();
    await Promise.race([begins.then(() => delay(leaves)), answering]);
    call.leave();
  }
  const answer = await answering;
  if (leaves === undefined || !answer.startsWith('no answer'))
    scene.answered(id, answer, (references[i] ?? '').replaceAll(`plain${i}`, id));
}

async function answerTo(call: Call, scene: Scene, id: string): Promise<string> {
  const over = new AbortController();
  const patience = delay(PATIENCE, undefined, { signal: over.signal }).then(
    () => {
      scene.fail(id, `has no answer after ${PATIENCE} ms`);
      call.leave();
      return 'no answer';
    },
    () => 'no answer',
  );
  const answer = await Promise.race([call.answer, patience]);
  over.abort();
  return answer;
}

async function settled(scene: Scene): Promise<void> {
  await scene.background();
  try {
    await waitFor(() => scene.isIdle, { timeout: 3_000, interval: 1 });
  } catch {
    const held = scene.locks?.holds().map(({ name, method }) => `${name} (${method})`) ?? [];
    scene.fail('app', `still holds ${held.join(', ') || 'nothing, but works'} at the end`);
  }
}

async function assertFree(scene: Scene, locks: LockService): Promise<void> {
  for (const name of ['stock', 'depot', 'till']) {
    // The request of a client that has left may be on its way still.
    const isFree = async (): Promise<boolean> => {
      const { held, pending } = await locks.query(name);
      return held.length + pending.length === 0;
    };
    await waitFor(isFree, { timeout: 3_000, interval: 1 }).catch(() =>
      scene.fail('app', `somebody holds ${name}, or waits for it, at the end`),
    );
  }
}

/** Nest logs the errors of handlers; a line of the module after the start is a violation. */
function loggerOf(scene: Scene): LoggerService {
  const note = (message: unknown, ...rest: unknown[]): void => {
    if (rest.at(-1) === 'RedisLock' && scene.locks !== undefined)
      scene.fail('app', `logs: ${String(message)}`);
  };
  return { log: () => {}, warn: note, error: note };
}
