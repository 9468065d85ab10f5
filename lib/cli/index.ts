import { Output } from './output.js';
import { main } from './program.js';

Output.watch();
void main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
