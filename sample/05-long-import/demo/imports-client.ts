import type { LockInfo } from 'nest-redis-lock';
import type { StartedImport } from '../api/imports.service.js';

/** How a request was answered. */
export interface Answer {
  readonly status: number;
  /** Seconds after which to try again, where the answer says so. */
  readonly retryAfter: string | null;
}

/** Each request comes over a connection of its own: an idle one may be closed by its server while it is used again. */
const headers = { connection: 'close' };

/** The API as another application sees it. */
export class ImportsClient {
  constructor(private readonly url: string) {}

  /** @throws Error when the import was not accepted. */
  async start(file: string): Promise<StartedImport> {
    const response = await this.post(file);
    if (response.status === 202) return JSON.parse(await response.text());
    throw new Error(`POST /imports was answered with ${response.status}: ${await response.text()}`);
  }

  async tryToStart(file: string): Promise<Answer> {
    const response = await this.post(file);
    await response.text();
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  }

  /** The token of the hold under which the import waits or runs; undefined where there is none. */
  async tokenOf(file: string): Promise<number | undefined> {
    const response = await fetch(`${this.url}/imports/${file}`, { headers });
    const { fencingToken }: Partial<LockInfo> = JSON.parse(await response.text());
    return fencingToken;
  }

  async stop(file: string): Promise<number> {
    const response = await fetch(`${this.url}/imports/${file}`, { method: 'DELETE', headers });
    await response.text();
    return response.status;
  }

  private async post(file: string): Promise<Response> {
    return fetch(`${this.url}/imports`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ file }),
    });
  }
}
