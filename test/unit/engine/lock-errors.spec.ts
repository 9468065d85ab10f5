import {
  describedLoss,
  extensionError,
  forcedError,
  timeoutError,
  withHolderLabel,
} from '../../../lib/engine/lock-errors.js';

const HOLDER = { owner: 'web-3:7', remaining: undefined, label: undefined };

describe('The message of a caller that waited too long', () => {
  it('names the holder without a lease if its end is unknown', () => {
    const error = timeoutError(['order:42'], 2_000, HOLDER, true, undefined);
    expect(error.message).toMatch(/ Held by web-3\. Retry later/u);
    const labelled = withHolderLabel(error, 'OrdersService.pay');
    expect(labelled.message).toMatch(/ Held by OrdersService\.pay in web-3\. Retry later/u);
  });

  it('says when the lease ends, and nothing of an unknown holder', () => {
    const error = timeoutError(['order:42'], 2_000, { ...HOLDER, remaining: 28_000.4 }, true, undefined);
    expect(error.message).toContain(' Held by web-3, lease ends in 28000 ms unless renewed. Retry later');
    expect(timeoutError(['order:42'], 2_000, undefined, true, undefined).message).not.toContain('Held by');
    const shared = { ...HOLDER, owner: 'shared' };
    expect(timeoutError(['order:42'], 2_000, shared, true, undefined).message).toContain(
      ' Held by shared holders. Retry',
    );
  });
});

describe('The message of a hold that was lost', () => {
  it('names the lock, its age, its place and the cause, and says what to do', () => {
    const { message } = describedLoss(forcedError(['order:42']), 1_200.4, 'OrdersService.pay');
    expect(message).toBe(
      'The hold on "order:42" ended after 1200 ms (OrdersService.pay). The lock was released forcibly (forceRelease). ' +
        'Stop its work, because another caller may hold the lock now.',
    );
  });
});

describe('The message of an extension that was not confirmed', () => {
  it.each([
    { cause: undefined, message: 'Too few servers confirmed the extension of the lease on "order:42".' },
    {
      cause: new Error('connect ECONNREFUSED 127.0.0.1:6379.'),
      message:
        'Redis did not confirm the extension of the lease on "order:42" (connect ECONNREFUSED 127.0.0.1:6379).',
    },
  ])('says what is missing, and why if that is known: $message', ({ cause, message }) => {
    expect(extensionError(['order:42'], cause).message).toBe(message);
  });
});
