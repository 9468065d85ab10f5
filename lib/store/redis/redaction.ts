/** Takes credentials out of errors and texts before anybody sees them. */
export class Redaction {
  private readonly secrets: readonly string[];

  constructor(secrets: readonly unknown[]) {
    const texts = secrets.filter((secret): secret is string => typeof secret === 'string' && secret !== '');
    this.secrets = texts.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  }

  text(text: string): string {
    return this.secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text);
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

/** Where a host has several addresses, Node puts what went wrong with each into an error without a message. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
}
