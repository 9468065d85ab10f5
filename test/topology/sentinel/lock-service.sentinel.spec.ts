import { describeLockService } from '../../contract/lock-service.contract.js';
import { SentinelBackend } from '../../contract/sentinel-backend.js';

describeLockService('on a master that sentinels name', () => SentinelBackend.start());
