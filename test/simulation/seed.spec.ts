import * as fc from 'fast-check';
import { assertSchedules } from './explore.js';
import { SEED } from './seed.js';

describe('A random schedule that fails', () => {
  it('names the seed that repeats it at once, and at the end', async () => {
    const lines: string[] = [];
    const write = jest
      .spyOn(process.stderr, 'write')
      .mockImplementation((line) => !!lines.push(String(line)));
    const said: string[] = [];
    const play = async (n: number): Promise<void> => {
      said.push(...lines.splice(0));
      if (n > 10) throw new Error('The lock had two holders.');
    };
    const outcome = assertSchedules('failing', fc.nat(1_000), play, 100);

    await expect(outcome).rejects.toThrow(`seed: ${SEED}`);
    write.mockRestore();
    // The first shorter schedule is played after the line.
    expect(said).toEqual([
      `A schedule fails; SIMULATION_SEED=${SEED} repeats it: Error: The lock had two holders.\n`,
    ]);
  });
});
