import {
  extensionError,
  FORCED,
  lostHoldError,
  timeoutError,
  withHolderLabel,
} from '../../../lib/engine/lock-errors.js';

const CALL = { waited: 2_000, label: undefined };
const HOLDER = { owner: 'web-3:7', remaining: undefined, label: undefined };

describe('The message of a caller that waited too long', () => {
  it('names the holder without a lease if its end is unknown', () => {
    const error = timeoutError(['order:42'], CALL, { holder: HOLDER });
    expect(error.message).toMatch(/ Held by web-3\. Retry later/u);
    const labelled = withHolderLabel(error, 'OrdersService.pay');
    expect(labelled.message).toMatch(/ Held by OrdersService\.pay in web-3\. Retry later/u);
  });

  it('says when the lease ends, and nothing of an unknown holder', () => {
    const error = timeoutError(['order:42'], CALL, { holder: { ...HOLDER, remaining: 28_000.4 } });
    expect(error.message).toContain(' Held by web-3, lease ends in 28000 ms unless renewed. Retry later');
    expect(timeoutError(['order:42'], CALL, {}).message).not.toContain('Held by');
    const shared = { ...HOLDER, owner: 'shared' };
    expect(timeoutError(['order:42'], CALL, { holder: shared }).message).toContain(
      ' Held by shared holders. Retry',
    );
  });
});

describe('The error of a caller behind a key without expiry', () => {
  it('says that the lease never ends, and names the commands that show and end it', () => {
    const holder = { owner: 'legacy', remaining: Infinity };
    const error = timeoutError(['order:42'], CALL, { holder });
    expect(error.message).toBe(
      'Lock "order:42" was not acquired within 2000 ms. Held by legacy. Its key in Redis has no expiry, so the lease never ' +
        'ends. To see it, run `npx nest-redis-lock query order:42`; if its owner is gone, end it with ' +
        '`npx nest-redis-lock release order:42`.',
    );
    expect(error.retryAfter).toBe(2_000);
    expect(timeoutError(["it's"], CALL, { holder }).message).toContain(String.raw`query 'it'\''s'`);
  });
});

describe('The message of a hold that was lost', () => {
  it('names the lock, its age, its place and the cause, and says what to do', () => {
    const { message } = lostHoldError(['order:42'], FORCED, 1_200.4, 'OrdersService.pay');
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
