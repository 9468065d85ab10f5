import { tryTo } from './try-to.js';

/**
 * Starts a lazy thenable, such as a query of Prisma, Mongoose, Knex or Drizzle, in the async context of the caller. A
 * later `await` would start it in the context of that `await`. Other values pass unchanged.
 */
export function startLazy<T>(result: T): T {
  const isThenable = tryTo(() => typeof Reflect.get(Object(result) as object, 'then') === 'function');
  return isThenable === true ? (Promise.resolve(result) as T) : result;
}
