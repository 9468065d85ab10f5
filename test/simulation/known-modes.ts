import type { ScriptTwin } from '../support/script-twin.js';

/** Whether an instance knows of modes. Before, its scripts are not given the key of shared holders. */
export class KnownModes {
  private areKnown = false;

  constructor(private readonly server: ScriptTwin) {}

  note(): void {
    this.areKnown = true;
  }

  /** Lets the server execute a request with the keys that the instance knows of now. */
  keysOf<T>(execute: () => Promise<T>): () => Promise<{ reply: T; hasAsked: boolean }> {
    const { areKnown, server } = this;
    return async () => {
      server.hasMetSharedMode = areKnown;
      server.hasAsked = false;
      const executed = execute();
      const { hasAsked } = server;
      server.hasMetSharedMode = true;
      return { reply: await executed, hasAsked };
    };
  }
}
