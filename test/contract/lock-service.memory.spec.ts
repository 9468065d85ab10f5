import { describeLockService } from './lock-service.contract.js';
import { MemoryBackend } from './memory-backend.js';

describeLockService('in memory', async () => new MemoryBackend());
