import { ClusterBackend } from './cluster-backend.js';
import { describeLockService } from './lock-service.contract.js';

describeLockService('on a Redis Cluster (row 7)', () => ClusterBackend.start());
