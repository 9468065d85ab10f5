/** `skipped`: it could not be looked at, most often for want of a right, and says nothing about the server. */
export type Status = 'ok' | 'warning' | 'error' | 'skipped';

/** What a look at one thing has found, in a sentence. */
export interface Finding {
  readonly check: string;
  readonly status: Status;
  readonly message: string;
}

/** What a check finds, as it goes on. */
export type Findings = AsyncGenerator<Finding, void>;

export const ok = finding('ok');
export const warning = finding('warning');
export const error = finding('error');
export const skipped = finding('skipped');

function finding(status: Status): (check: string, message: string) => Finding {
  return (check, message) => ({ check, status, message });
}

/** What a server, or its client, has said, as a part of a sentence. */
export function messageOf(reason: unknown): string {
  const message = reason instanceof Error ? reason.message || reason.name : String(reason);
  return message.replace(/ script: .*$|\.$/s, '');
}
