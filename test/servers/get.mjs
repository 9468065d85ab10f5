// Gets the servers of `run.mjs --short` ahead of it: node test/servers/get.mjs
import { fileURLToPath } from 'node:url';
import { thisSystem } from '../../tools/setup/system.mjs';
import { othersThanHere, provideServers } from './servers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/servers', import.meta.url));
const system = thisSystem(root);

for (const server of provideServers(cache, system, othersThanHere(system))) {
  console.log('missing' in server ? `${server.name}: ${server.missing}` : server.name);
}
