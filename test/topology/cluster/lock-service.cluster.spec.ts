import { ClusterBackend } from '../../contract/cluster-backend.js';
import { describeLockService } from '../../contract/lock-service.contract.js';

describeLockService('on a Redis Cluster (row 7)', () => ClusterBackend.start());
