import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory that is removed at the end of its scope. */
export class ScratchDirectory implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(prefix: string): Promise<ScratchDirectory> {
    return new ScratchDirectory(await mkdtemp(join(tmpdir(), prefix)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
