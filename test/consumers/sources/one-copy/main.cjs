// The same with require first, which is how an application that is CommonJS begins.
const required = require('./required.cjs');

if (required.entryPoint0 === undefined) throw new Error('Nothing was required');
void import('./main.mjs');
