import { type Around, type Composition, fromOutside, unsubscribesWhoLeaves } from './composition.js';

/** Compositions that Nest itself cannot serve, or that commit without anybody to tell the lock, with the reason. */
const MEANINGLESS: readonly {
  readonly because: string;
  readonly applies: (composition: Composition) => boolean;
}[] = [
  {
    because: 'only HTTP sends files and SSE streams',
    applies: ({ transport, result }) =>
      (result === 'file' || result === 'sse') && transport !== 'express' && transport !== 'fastify',
  },
  {
    because: 'Nest creates gateways once, whatever their scope',
    applies: ({ transport, scope }) => transport === 'ws' && scope !== 'singleton',
  },
  {
    because: 'Nest looks for the metadata of an SSE route at the bound function, which has none',
    applies: ({ result, wrapping }) => result === 'sse' && wrapping === 'bound',
  },
  {
    because: 'a service without a lock of its own has no name',
    applies: ({ locked, below }) => locked === 'handler' && below === 'other name',
  },
  {
    because: 'a shared hold around a call cannot become exclusive',
    applies: ({ interceptors }) => interceptors.some((each) => isUpgraded(each, interceptors)),
  },
  {
    because: 'an interceptor takes another name before that of the handler, and one takes it after that',
    applies: ({ interceptors }) => {
      const shapes = interceptors.filter(({ lock }) => lock?.name === 'other name').map(({ shape }) => shape);
      return shapes.includes('locks around') && shapes.some((each) => /^locks (?:after|beside)$/.test(each));
    },
  },
  {
    because: 'an interceptor that no outer one can cancel commits when its request has long ended',
    applies: (composition) =>
      fromOutside(composition).some(
        (each, i, all) =>
          (cannotBeCancelled(each) || hidesFromInside(each, all.slice(i + 1))) &&
          (all.slice(0, i).some(cancels) || isLeft(composition)),
      ),
  },
];

export function isMeaningless(composition: Composition): boolean {
  return MEANINGLESS.some(({ applies }) => applies(composition));
}

function cannotBeCancelled({ shape }: Around): boolean {
  return shape === 'awaits the handler' || shape === 'shareReplay';
}

/** Whether an interceptor rolls back when it is cancelled, and those inside it are not. */
function hidesFromInside({ shape }: Around, inside: readonly Around[]): boolean {
  return (
    (shape === 'async defer' || shape === 'async retry' || shape === 'locks around') && inside.length > 0
  );
}

/** Whether a call below the hold of an interceptor would ask for more than it has. */
function isUpgraded({ shape, lock }: Around, all: readonly Around[]): boolean {
  if (shape !== 'locks around' || lock?.mode !== 'shared') return false;
  if (lock.name === 'same name') return true;
  return all.some((each) => each.shape.startsWith('locks') && isExclusiveOfOther(each));
}

function isExclusiveOfOther({ lock }: Around): boolean {
  return lock?.name === 'other name' && lock.mode === 'exclusive';
}

/** Whether an interceptor may end while its handler still works. */
function cancels({ shape }: Around): boolean {
  return shape === 'timeout' || shape === 'two calls in parallel';
}

/** Whether Nest cancels the interceptors of a client that leaves, or whose connection the shutdown ends. */
function isLeft(composition: Composition): boolean {
  const { clients, shutdown } = composition;
  return (
    unsubscribesWhoLeaves(composition) &&
    (shutdown !== undefined || clients.some(({ leaves }) => leaves !== undefined))
  );
}
