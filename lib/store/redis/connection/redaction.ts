import type { RedisUser } from './redis-client.js';

/** A shorter password is part of any text; it is looked for where a text quotes it, as user names are. */
const UNMISTAKABLE = 4;
/** Secrets of one kind that are known at a time, in either spelling. */
const MOST_KNOWN = 100;

/**
 * Takes credentials out of errors and texts before anybody sees them: passwords wherever they stand, and the name of a
 * user where a text quotes it. It may well be one of the words that a text is made of, as `user` is.
 */
export class Redaction {
  private secrets: readonly (string | RegExp)[] = [];
  private readonly passwords = new Set<string>();
  private readonly names = new Set<string>();

  constructor(...users: readonly RedisUser[]) {
    this.learn(users);
  }

  /** From now on these, too. Those of before may still show up; the oldest are forgotten. */
  learn(users: readonly (RedisUser | undefined)[]): void {
    const names = users.map((user) => user?.username).filter((name) => name !== 'default');
    remember(this.passwords, spellingsOf(users.map((user) => user?.password)));
    remember(this.names, spellingsOf(names));
    this.secrets = [
      // A password may begin with another one.
      ...[...this.passwords]
        .toSorted((a, b) => b.length - a.length)
        .map((password) => (password.length < UNMISTAKABLE ? quoted(password) : password)),
      ...[...this.names].map(quoted),
    ];
  }

  text(text: string): string {
    return this.secrets.reduce<string>((clean, secret) => clean.replaceAll(secret, '***'), text);
  }

  /** A copy without secrets: ioredis hangs the failed command on its errors, AUTH and its password included. */
  error(error: unknown): Error {
    if (!(error instanceof Error)) return new Error(this.text(String(error)));
    const clean = new Error(this.text(messageOf(error)));
    clean.name = error.name;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) Object.assign(clean, { code });
    if (error.stack) clean.stack = this.text(error.stack);
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

/** Plain, and as in a URL. */
function spellingsOf(credentials: readonly unknown[]): string[] {
  const texts = credentials.filter((each): each is string => typeof each === 'string' && each !== '');
  return texts.flatMap((text) => [text, encodeURIComponent(text)]);
}

/** In the answers of an ACL, in quotes, in a URL, and as an argument of AUTH. */
function quoted(name: string): RegExp {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const before = `\\b(?:User|AUTH(?: \\S+)?) |(?<!\\w)['"\`]|//(?:[^\\s/@]*:)?`;
  return new RegExp(`(?<=${before})${literal}(?=[\\s'"\`:@]|$)`, 'g');
}

/** Where a host has several addresses, Node puts what went wrong with each into an error without a message. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
}
