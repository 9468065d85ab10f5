// Whoever makes one file of an application leaves these out of it, but for its client: not all of them can be bundled.
const { peerDependenciesMeta } = require('nest-redis-lock/package.json');

module.exports = Object.keys(peerDependenciesMeta).filter((name) => name !== 'ioredis');
