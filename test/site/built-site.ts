import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, extname, join, sep } from 'node:path';

const folder = join(__dirname, '../../.cache/site');
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** What `npm run docs` has built, as any server of files serves it. */
export class BuiltSite implements AsyncDisposable {
  /** Its pages, as paths within it. */
  static readonly pages: readonly string[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => path.split(sep).join('/'));

  /** The path of the file whose name begins like this; a hash follows. */
  static fileOf(start: string): string {
    const found = readdirSync(join(folder, dirname(start))).find((name) => name.startsWith(basename(start)));
    if (found === undefined) throw new Error(`The site has no file ${start}…`);
    return `${dirname(start)}/${found}`;
  }

  static text(path: string): string {
    return readFileSync(join(folder, path), 'utf8');
  }

  static bytes(path: string): Buffer {
    return readFileSync(join(folder, path));
  }

  static async serve(): Promise<BuiltSite> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const path = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const found = existsSync(path);
      const file = found ? path : join(folder, '404.html');
      response.writeHead(found ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'text/plain' });
      createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new BuiltSite(server);
  }

  private constructor(private readonly server: Server) {}

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
