import { borderFaults } from './border.faults.js';
import { describeBorderFaults } from './describe-border-faults.js';

describeBorderFaults('The random compositions', borderFaults, 1_000);
