import { describeLockService } from './lock-service.contract.js';
import { PerNameBackend } from './per-name-backend.js';

describeLockService(
  "behind one endpoint of many shards, with layout: 'per-name'",
  () => PerNameBackend.start(),
  { ordersInstances: true, handsOff: true, detaches: true, countsPermits: true, lists: false },
);
