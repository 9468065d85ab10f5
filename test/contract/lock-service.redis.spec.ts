import { describeLockService } from './lock-service.contract.js';
import { RedisBackend } from './redis-backend.js';

describeLockService('on Redis (row 7)', () => RedisBackend.start());
