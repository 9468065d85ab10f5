import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import { ClientAbandonment } from '../../../lib/nest/locked/client-abandonment.js';

describe('The wait of a GraphQL operation', () => {
  it.each([
    ['the response of Express', (gone: EventEmitter) => ({ res: gone, socket: new EventEmitter() })],
    ['the stream of HTTP/2 in Fastify', (gone: EventEmitter) => ({ raw: { stream: gone } })],
    ['the socket of Fastify', (gone: EventEmitter) => ({ raw: { socket: gone } })],
    ['the socket of a plain request', (gone: EventEmitter) => ({ socket: gone })],
  ])('ends with %s', (_, requestWith) => {
    const connection = new EventEmitter();
    const invocation = { getType: () => 'graphql', getArgByIndex: () => ({ req: requestWith(connection) }) };
    const abandonment = new ClientAbandonment(invocation as unknown as ExecutionContext);
    const ended = jest.fn();
    abandonment.addEventListener('abort', ended);
    abandonment.listen();
    connection.emit('close');

    expect(ended).toHaveBeenCalledTimes(1);
    expect(abandonment.reason).toMatchObject({ status: 499 });
    abandonment.stopListening();
    expect(connection.listenerCount('close')).toBe(0);
  });

  it('continues if the request of the context cannot be read', () => {
    const withoutRequest = {
      get req(): never {
        throw new Error('A subscription has no request.');
      },
    };
    const invocation = { getType: () => 'graphql', getArgByIndex: () => withoutRequest };
    const abandonment = new ClientAbandonment(invocation as unknown as ExecutionContext);
    abandonment.listen();

    expect(abandonment.isGone).toBe(false);
  });
});
