import { messageOf } from '../../primitives/message-of.js';

/** `skipped`: the check was not possible, usually because a right is missing. It says nothing about the server. */
export type Status = 'ok' | 'warning' | 'error' | 'skipped';

/** The result of one check, as a sentence. */
export interface Finding {
  readonly check: string;
  readonly status: Status;
  readonly message: string;
}

/** The findings of a check, one by one. */
export type Findings = AsyncGenerator<Finding, void>;

export const ok = finding('ok');
export const warning = finding('warning');
export const error = finding('error');
export const skipped = finding('skipped');

function finding(status: Status): (check: string, message: string) => Finding {
  return (check, message) => ({ check, status, message });
}

/** The message of a server or a client, as part of a sentence. */
export function clauseOf(reason: unknown): string {
  return messageOf(reason).replace(/ script: .*$|\.$/s, '');
}
