import type { Redis } from 'ioredis';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';

/** What stands before a word of so many bytes, for nearly all words that there are. */
const HEADS = Array.from({ length: 256 }, (_, bytes) => headOf(bytes));

function headOf(bytes: number): string {
  return `\r\n$${bytes}\r\n`;
}

/** Asks for the bytes of the whole text only: to ask for those of each word takes longer than all the rest of making it. */
function textOf(words: readonly string[]): string {
  const text = textWith(words, ({ length }) => length);
  const isAscii = Buffer.byteLength(text) === text.length;
  return isAscii ? text : textWith(words, (word) => Buffer.byteLength(word));
}

function textWith(words: readonly string[], bytesOf: (word: string) => number): string {
  let text = `*${words.length + 1}\r\n$7\r\nevalsha`;
  for (const word of words) {
    const bytes = bytesOf(word);
    text += (HEADS[bytes] ?? headOf(bytes)) + word;
  }
  return `${text}\r\n`;
}

/**
 * Lets a client of ours run scripts with less ado. ioredis copies the arguments of each command by `Array.prototype.flat`,
 * and makes its text of five pieces a word: with the keys of many locks that alone takes longer than to write them to the
 * socket.
 */
export function withLeanScripts(client: Redis): Redis {
  const { enableAutoPipelining, keyPrefix, showFriendlyErrorStack } = client.options;
  // What ioredis does about these is done where it makes the command.
  if (enableAutoPipelining || keyPrefix || showFriendlyErrorStack) return client;
  const { Command } = loadIoredis();
  class LeanCommand extends Command {
    override toWritable(): string {
      return textOf(this.args as string[]);
    }
  }
  const evalsha = (...words: (string | number)[]): Promise<unknown> => {
    const command = new LeanCommand('evalsha', [], { replyEncoding: 'utf8' });
    words.forEach((word, i) => typeof word === 'number' && (words[i] = String(word)));
    command.args = words as string[];
    return client.sendCommand(command) as Promise<unknown>;
  };
  return Object.assign(client, { evalsha });
}
