import { describeLockService } from '../../contract/lock-service.contract.js';
import { QuorumBackend } from '../../contract/quorum-backend.js';

describeLockService('on a quorum of five Redis servers', () => QuorumBackend.start(5), {
  ordersInstances: false,
  handsOff: false,
  detaches: false,
  shares: false,
  lists: true,
  keeps: false,
  timeError: 20,
});
