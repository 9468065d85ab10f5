import { describeLockService } from './lock-service.contract.js';
import { NodeRedisBackend } from './node-redis-backend.js';

describeLockService('on Redis by node-redis', () => NodeRedisBackend.start());
