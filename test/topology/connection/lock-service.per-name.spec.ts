import { describeLockService } from '../../contract/lock-service.contract.js';
import { PerNameBackend } from '../../contract/per-name-backend.js';

describeLockService(
  "behind one endpoint of many shards, with layout: 'per-name'",
  () => PerNameBackend.start(),
  {
    ordersInstances: true,
    handsOff: true,
    detaches: true,
    shares: true,
    lists: false,
    keeps: true,
    timeError: 1,
  },
);
