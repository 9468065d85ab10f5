import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this machine can make certificates. */
export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

/** A certificate of 127.0.0.1, ::1 and localhost that nobody but itself vouches for. */
export class Certificate implements AsyncDisposable {
  private constructor(
    readonly key: string,
    readonly certificate: string,
    /** Where the certificate lies, for programs that want a file. */
    readonly file: string,
    private readonly directory: string,
  ) {}

  static async create(): Promise<Certificate> {
    const directory = await mkdtemp(join(tmpdir(), 'nest-redis-lock-'));
    const [key, file] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
    await run('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost'],
      ...['-keyout', key, '-out', file],
    ]);
    const [keyText, text] = [await readFile(key, 'utf8'), await readFile(file, 'utf8')];
    return new Certificate(keyText, text, file, directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}
