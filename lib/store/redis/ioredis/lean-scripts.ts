import type { Redis } from 'ioredis';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';

/**
 * Lets a client of ours run scripts with less ado. ioredis copies the arguments of each command by `Array.prototype.flat`:
 * with the keys of many locks that alone takes longer than to write them to the socket.
 */
export function withLeanScripts(client: Redis): Redis {
  const { enableAutoPipelining, keyPrefix, showFriendlyErrorStack } = client.options;
  // What ioredis does about these is done where it makes the command.
  if (enableAutoPipelining || keyPrefix || showFriendlyErrorStack) return client;
  const { Command } = loadIoredis();
  const evalsha = (...words: (string | number)[]): Promise<unknown> => {
    const command = new Command('evalsha', [], { replyEncoding: 'utf8' });
    words.forEach((word, i) => typeof word === 'number' && (words[i] = String(word)));
    command.args = words as string[];
    return client.sendCommand(command) as Promise<unknown>;
  };
  return Object.assign(client, { evalsha });
}
