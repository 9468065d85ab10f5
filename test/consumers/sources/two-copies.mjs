// A process with two copies of the package, as npm installs them where two versions are asked for.
import { createRequire } from 'node:module';
import * as first from 'nest-redis-lock';

const second = createRequire(new URL('second/index.js', import.meta.url))('nest-redis-lock');
if (first.LockService === second.LockService) throw new Error('There is one copy: the test is of no use');
for (const [one, other] of [
  [first, second],
  [second, first],
]) {
  const error = new other.LockTimeoutError('', { waited: 1 });
  if (!one.isLockError(error)) throw new Error('An error of the other copy is not recognised');
  if (one.isLockError(new Error('another'))) throw new Error('Any error is taken for one of the package');
}
