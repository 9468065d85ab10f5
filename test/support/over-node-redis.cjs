// Has the suites run over node-redis, in processes that they start, too; see by-node-redis.ts.
process.env['LOCKS_CLIENT'] = 'node-redis';
