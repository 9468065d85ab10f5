import { rareBorderFaults } from './border.faults.js';
import { describeBorderFaults } from './describe-border-faults.js';

describeBorderFaults('Many random compositions', rareBorderFaults, 4_000);
