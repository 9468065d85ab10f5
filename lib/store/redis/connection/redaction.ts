import { types } from 'node:util';
import { messageOf } from '../../../primitives/message-of.js';
import { tryTo } from '../../../primitives/try-to.js';
import type { RedisUser } from './redis-client.js';

/**
 * Minimum length of a password that is redacted everywhere. Shorter ones occur in any text, and are redacted only where
 * a text quotes them, like user names.
 */
const UNMISTAKABLE = 4;
/** Maximum number of known secrets of one kind, in either spelling. */
const MOST_KNOWN = 100;

/**
 * Removes credentials from errors and texts: passwords everywhere, and user names only where a text quotes them. A user
 * name may be an ordinary word of the text, such as `user`.
 */
export class Redaction {
  private secrets: readonly (string | RegExp)[] = [];
  private readonly passwords = new Set<string>();
  private readonly names = new Set<string>();

  constructor(...users: readonly RedisUser[]) {
    this.learn(users);
  }

  /** Adds credentials to redact. Earlier ones may still occur and stay known; the oldest are forgotten. */
  learn(users: readonly (RedisUser | undefined)[]): void {
    const names = users.map((user) => user?.username).filter((name) => name !== 'default');
    remember(this.passwords, spellingsOf(users.map((user) => user?.password)));
    remember(this.names, spellingsOf(names));
    this.secrets = [
      // Longer passwords first, because one may begin with another.
      ...[...this.passwords]
        .toSorted((a, b) => b.length - a.length)
        .map((password) => (password.length < UNMISTAKABLE ? quoted(password) : password)),
      ...[...this.names].map(quoted),
    ];
  }

  text(text: string): string {
    return this.secrets.reduce<string>((clean, secret) => clean.replaceAll(secret, '***'), text);
  }

  /** Copies an error without secrets: ioredis attaches the failed command, including AUTH and its password. */
  error(error: unknown): Error {
    const clean = new Error(this.text(messageOf(error)));
    // Not by instanceof: in Jest, errors of Node have another class.
    if (!types.isNativeError(error)) return clean;
    tryTo(() => {
      const { code, name, stack = '' } = error as { code?: unknown; name: unknown; stack?: unknown };
      const details = { name: String(name), stack: this.text(String(stack)) };
      Object.assign(clean, details, code === undefined ? {} : { code });
    });
    return clean;
  }
}

function remember(known: Set<string>, secrets: readonly string[]): void {
  for (const secret of secrets) {
    known.delete(secret);
    known.add(secret);
  }
  for (const oldest of known) if (known.size > MOST_KNOWN) known.delete(oldest);
}

/** Each credential as plain text and in URL encoding. */
function spellingsOf(credentials: readonly unknown[]): string[] {
  const texts = credentials.filter((each): each is string => typeof each === 'string' && each !== '');
  return texts.flatMap((text) => [text, encodeURIComponent(text)]);
}

/** Matches a name in replies about ACLs, in quotes, in a URL, and as an argument of AUTH. */
function quoted(name: string): RegExp {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const before = `\\b(?:User|AUTH(?: \\S+)?) |(?<!\\w)['"\`]|//(?:[^\\s/@]*:)?`;
  return new RegExp(`(?<=${before})${literal}(?=[\\s'"\`:@]|$)`, 'g');
}
