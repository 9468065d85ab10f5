import { waitFor } from '../../../support/wait-for.js';
import { SplitTick } from '../../../../lib/store/redis/node-redis/sockets.js';

/** A client that writes as node-redis does: at the end of a tick, all that was sent in it. */
class Client {
  readonly writes: number[][] = [];
  private unwritten: number[] = [];

  send(command: number): Promise<number> {
    if (this.unwritten.length === 0) {
      setImmediate(() => {
        this.writes.push(this.unwritten);
        this.unwritten = [];
      });
    }
    this.unwritten.push(command);
    return command < 0 ? Promise.reject(new Error(`${command}`)) : Promise.resolve(command);
  }
}

describe('Calls of one tick', () => {
  const open = () => {
    const client = new Client();
    const tick = new SplitTick();
    const send = (...commands: number[]): Promise<number>[] =>
      commands.map((command) => tick.send(() => client.send(command)));
    return { client, send };
  };

  it('leave at its end, if they are few', async () => {
    const { client, send } = open();
    for (const first of [1, 4]) await Promise.all(send(first, first + 1, first + 2));
    await waitFor(() => client.writes.flat().length === 6);

    expect(client.writes.flat()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(client.writes.length).toBeLessThanOrEqual(2);
  });

  it('leave in two writes, in their order, if they are many', async () => {
    const { client, send } = open();
    const replies = await Promise.all(send(1, 2, 3, 4, 5, 6, 7, 8, 9));
    await waitFor(() => client.writes.flat().length === 9);

    expect(replies).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(client.writes).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ]);
  });

  it('leave after those of the tick before', async () => {
    const { client, send } = open();
    const before = send(1, 2, 3, 4, 5, 6, 7, 8);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([...before, ...send(9, 10)]);
    await waitFor(() => client.writes.flat().length === 10);

    expect(client.writes.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('fail each by itself', async () => {
    const { send } = open();
    const replies = await Promise.allSettled(send(1, -2, 3, 4, 5, -6, 7));

    expect(replies.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      true,
      true,
      false,
      true,
    ]);
  });
});
