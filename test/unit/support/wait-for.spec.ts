import { waitFor } from '../../support/wait-for.js';

describe('waitFor', () => {
  it('gives the first truthy value', async () => {
    const values = [undefined, 0, '', 'here', 'too late'];

    expect(await waitFor(() => values.shift())).toBe('here');
  });

  it('looks again after a condition threw', async () => {
    let looks = 0;
    const condition = () => {
      looks += 1;
      if (looks < 3) throw new Error('not yet');
      return looks;
    };

    expect(await waitFor(condition)).toBe(3);
  });

  it('says what it waited for and why it never came', async () => {
    const cause = new Error('still closed');
    const wait = waitFor(() => Promise.reject(cause), { timeout: 30, that: 'the door to open' });

    await expect(wait).rejects.toMatchObject({ message: 'Waited 30 ms in vain for the door to open', cause });
  });

  it('is not held up by a look that never settles', async () => {
    await expect(waitFor(() => new Promise<boolean>(() => {}), { timeout: 30 })).rejects.toThrow('in vain');
  });

  it('works under fake timers', async () => {
    jest.useFakeTimers();
    try {
      const values = [false, false, true];
      expect(await waitFor(() => values.shift())).toBe(true);
      await expect(waitFor(() => false, { timeout: 30 })).rejects.toThrow('in vain');
    } finally {
      jest.useRealTimers();
    }
  });
});
