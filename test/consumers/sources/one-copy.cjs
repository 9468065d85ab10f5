// The same with require first, which is how an application that is CommonJS begins.
const required = require('nest-redis-lock');

void import('nest-redis-lock').then((imported) => {
  if (imported.LockService !== required.LockService) throw new Error('There are two LockService classes');
});
