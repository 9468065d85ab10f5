declare module 'redis-parser' {
  /** Reads the protocol of Redis: what clients send is arrays of texts. */
  export default class RedisParser {
    constructor(options: {
      returnReply(reply: unknown): void;
      returnError(error: Error): void;
      returnFatalError?(error: Error): void;
      returnBuffers?: boolean;
    });
    execute(bytes: Buffer): void;
  }
}
