import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandLine, parseOptions, usageOf } from '../../../sample/support/command-line.js';

const SAMPLES = join(__dirname, '../../../sample');
const NAMES = readdirSync(SAMPLES).filter((name) => /^\d/.test(name));

async function commandLineOf(sample: string): Promise<CommandLine> {
  const module = (await import(join(SAMPLES, sample, 'demo/command-line'))) as { COMMAND_LINE: CommandLine };
  return module.COMMAND_LINE;
}

describe.each(NAMES)('sample %s', (sample) => {
  it('takes --exit and --help, and lists both in its usage', async () => {
    const line = await commandLineOf(sample);

    expect(parseOptions(line, ['--exit'])).toMatchObject({ exit: true });
    expect(usageOf(line)).toMatch(/^npm (?:start|run sample:[\w-]+) -- \[options\]\n[^]*--exit [^]*--help /);
  });

  it.each([
    ['--buyer', 'There is no option --buyer.'],
    ['now', 'now is no option.'],
    ['--exit=1', '--exit takes no value.'],
  ])('answers %s with a sentence', async (argument, sentence) => {
    const line = await commandLineOf(sample);

    expect(() => parseOptions(line, [argument])).toThrow(sentence);
  });
});

it('a number without a value is answered with a sentence', async () => {
  const line = await commandLineOf('01-flash-sale');

  expect(() => parseOptions(line, ['--stock'])).toThrow('--stock takes a value.');
  expect(() => parseOptions(line, ['--stock', 'many'])).toThrow('--stock takes a whole number from 1 on');
});
