/**
 * Takes credentials out of errors and texts before anybody sees them: passwords wherever they stand, and the name of a
 * user where a text quotes it. It may well be one of the words that a text is made of, as `user` is.
 */
export class Redaction {
  private readonly secrets: readonly (string | RegExp)[];

  constructor(passwords: readonly unknown[], userNames: readonly unknown[] = []) {
    this.secrets = [
      // A password may begin with another one.
      ...spellingsOf(passwords).toSorted((a, b) => b.length - a.length),
      ...spellingsOf(userNames.filter((name) => name !== 'default')).map(quoted),
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

/** Plain, and as in a URL. */
function spellingsOf(credentials: readonly unknown[]): string[] {
  const texts = credentials.filter((each): each is string => typeof each === 'string' && each !== '');
  return texts.flatMap((text) => [text, encodeURIComponent(text)]);
}

/** In the answers of an ACL, in quotes, in a URL, and as an argument of AUTH. */
function quoted(name: string): RegExp {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`(?<=\\b(?:User|AUTH) |['"\`]|//)${literal}(?=[\\s'"\`:@]|$)`, 'g');
}

/** Where a host has several addresses, Node puts what went wrong with each into an error without a message. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
}
