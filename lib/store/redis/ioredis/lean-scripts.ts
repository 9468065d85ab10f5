import type { Redis } from 'ioredis';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';

/** The protocol heads of words by their number of bytes, for nearly all words. */
const HEADS = Array.from({ length: 256 }, (_, bytes) => headOf(bytes));

function headOf(bytes: number): string {
  return `\r\n$${bytes}\r\n`;
}

/**
 * Builds the protocol text of a command. Measures the bytes of the whole text only, because measuring each word takes
 * longer than the rest.
 */
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
 * Lets a client run scripts at a lower cost. ioredis copies the arguments of each command by `Array.prototype.flat`,
 * and builds its text from five pieces per word. With the keys of many locks, this takes longer than the write to the
 * socket.
 */
export function withLeanScripts(client: Redis): Redis {
  const { enableAutoPipelining, keyPrefix, showFriendlyErrorStack } = client.options;
  // ioredis handles these options where it creates the command.
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
