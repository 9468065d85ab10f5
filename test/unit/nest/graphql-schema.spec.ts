import { answerErrorsOf, type GraphqlSchema } from '../../../lib/nest/exceptions/graphql-schema.js';

const answer = (error: unknown): Error => new Error(`told: ${(error as Error).message}`);

function answered(field: object, extensions: object = {}): void {
  const schema: GraphqlSchema = {
    getTypeMap: () => ({ Stock: { getFields: () => ({ pieces: field }), extensions }, String: {} }),
  };
  answerErrorsOf(schema, answer);
}

describe('the resolvers of a schema whose errors are answered', () => {
  it('fail with the answer, at once or later', async () => {
    const field = {
      resolve(later: boolean): unknown {
        if (later) return Promise.reject(new Error('b'));
        throw new Error('a');
      },
    };
    answered(field);
    expect(() => field.resolve(false)).toThrow('told: a');
    await expect(field.resolve(true)).rejects.toThrow('told: b');
  });

  it('get their arguments and give their results', async () => {
    const field = { factor: 2, resolve: (n: number): unknown => n, subscribe: async (n: number) => n };
    answered(field);
    expect(field.resolve(3)).toBe(3);
    expect(await field.subscribe(4)).toBe(4);
  });

  it('fail so for a reference of a federation', async () => {
    const subgraph = { resolveReference: () => Promise.reject(new Error('c')) };
    answered({}, { apollo: { subgraph } });
    await expect(subgraph.resolveReference()).rejects.toThrow('told: c');
  });

  it('end a subscription while its next event is waited for', async () => {
    const ended = jest.fn(() => Promise.resolve({ done: true as const, value: undefined }));
    const events = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}), return: ended }),
    };
    const field = { subscribe: () => events };
    answered(field);
    const iterator = field.subscribe()[Symbol.asyncIterator]();
    void iterator.next();
    expect(await iterator.return()).toEqual({ done: true, value: undefined });
    expect(ended).toHaveBeenCalledTimes(1);
  });
});
