import { describeLooseCases, describeStrictCases } from './describe-cases.js';

describeStrictCases('typescript-5.9');
describeStrictCases('typescript');
describeLooseCases('typescript-5.9');
