import { describeLooseCases, describeStrictCases } from './describe-cases.js';

const LENGTH = { lines: 35, sentence: 3 };

describeStrictCases('typescript-5.9', LENGTH);
describeStrictCases('typescript', LENGTH);
describeLooseCases('typescript-5.9');
