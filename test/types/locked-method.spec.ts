import { describeLooseCases, describeStrictCases } from './describe-cases.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

// The fastest; the others have their turn in the long suite.
describeStrictCases('typescript-7', { lines: 6, sentence: 4 });
describeLooseCases('typescript-7');
