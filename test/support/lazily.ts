/** Work that runs when it is awaited, as the queries of Prisma, Mongoose, Knex and Drizzle do. */
export function lazily<T>(run: () => Promise<T>): Promise<T> {
  const lazy: PromiseLike<T> = {
    // oxlint-disable-next-line unicorn/no-thenable -- it stands for a query
    then: (resolve, reject) => run().then(resolve, reject),
  };
  return lazy as Promise<T>;
}
