import { describeLockService } from './lock-service.contract.js';
import { SentinelBackend } from './sentinel-backend.js';

describeLockService('on a master that sentinels name', () => SentinelBackend.start());
