import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FencedResource } from '../../faults/support/fenced-resource.js';
import { waitFor } from '../../support/wait-for.js';

describe('The fenced resource', () => {
  // Before, Jest failed the whole file with the socket's ECONNRESET, which readline hands on.
  it('continues after a client was killed', async () => {
    await using resource = await FencedResource.start();
    const killed = await write(resource, 1);
    killed.resetAndDestroy();
    await waitFor(() => resource.clients === 0);

    const next = await write(resource, 2);
    next.destroy();
  });
});

async function write(resource: FencedResource, token: number): Promise<Socket> {
  const socket = connect({ port: resource.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(`${JSON.stringify({ id: token, name: 'a', token, hold: String(token) })}\n`);
  await waitFor(() => resource.accepted.length === token);
  return socket;
}
