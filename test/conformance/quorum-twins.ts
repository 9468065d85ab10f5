import { QuorumKeys } from '../../lib/store/quorum/quorum-node.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { type LuaScript, luaScript } from '../../lib/store/scripts/lua-script.js';
import { queryScript } from '../../lib/store/scripts/query.script.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { quorumReleaseScript } from '../../lib/store/scripts/quorum-release.script.js';
import { MemoryNode } from '../simulation/quorum/memory-node.js';
import { INSTANCES, NAMES } from './operations.js';
import type { QuorumOperation } from './quorum-operations.js';
import { assertEqual } from './assert-equal.js';
import type { SteppedRedis } from './stepped-redis.js';

type Args = readonly (string | number)[];

/** When each run begins, in milliseconds since 1970. */
const START = 1_900_000_000_000;
/** Milliseconds between two operations. */
const STEP = 2;
const CLAIM = 301;
/** Milliseconds for which a vote keeps the fence. */
const RETENTION = 60_000;

const quorumKeys = new QuorumKeys('', 'lock:', CLAIM / 2);
const INBOX = quorumKeys.revocations;

const contentScript = luaScript('content')`
local content = {}
for i = 1, #KEYS, 3 do
  local lock, queue, fence = KEYS[i], KEYS[i + 1], KEYS[i + 2]
  content[#content + 1] = {
    redis.call('GET', lock) or '', redis.call('PTTL', lock),
    redis.call('ZRANGE', queue, 0, -1, 'WITHSCORES'), redis.call('PTTL', queue),
    redis.call('GET', fence) or '', redis.call('PTTL', fence),
  }
end
return content
`;

/** A request for a grant, as it was sent. */
interface SentVote {
  readonly instance: string;
  readonly name: string;
  readonly token: number;
  readonly args: Args;
}

/** Plays the same operations on a node's scripts and on the node in memory, and compares after each. */
export class QuorumTwins {
  private readonly memory: MemoryNode;
  private readonly votes: SentVote[] = [];
  private readonly heard: string[] = [];
  private numbered = 0;

  private constructor(private readonly redis: SteppedRedis) {
    this.memory = new MemoryNode(() => redis.now);
  }

  /** Plays operations one after the other; rejects at the first difference. */
  static async play(redis: SteppedRedis, operations: readonly QuorumOperation[]): Promise<void> {
    await redis.reset(START);
    const twins = new QuorumTwins(redis);
    for (const instance of INSTANCES) await twins.listen(instance, true);
    for (const [i, operation] of operations.entries()) {
      await twins.play(operation);
      await twins.compare(`operation ${i + 1}, ${operation.kind}`);
      redis.now += STEP;
    }
  }

  private async play(operation: QuorumOperation): Promise<void> {
    switch (operation.kind) {
      case 'tick':
        this.redis.now += operation.ms;
        return;
      case 'listen':
        return this.listen(operation.instance, operation.listens);
      case 'vote':
        return this.vote(operation);
      case 'vote again': {
        const vote = this.recent(operation.vote);
        if (!vote) return;
        const args = vote.args.with(3, operation.ttl);
        return this.one(quorumAcquireScript, vote.name, args);
      }
      case 'release': {
        const vote = this.recent(operation.vote);
        if (!vote) return;
        const { instance, name, token } = vote;
        const places = { leaves: 'cancel', joins: this.place(instance), neither: '' };
        const place = places[operation.place];
        const wake = operation.wakes ? 'wake' : 'quiet';
        return this.one(quorumReleaseScript, name, [instance, token, wake, place, INBOX, CLAIM, name]);
      }
      case 'extend': {
        const vote = this.recent(operation.vote);
        if (!vote) return;
        const [lock, , shared] = quorumKeys.keys(vote.name);
        const lease = `${operation.exact ? '=' : ''}${operation.ttl}`;
        return this.both(extendScript, [lock, shared], [ownerOf(vote), lease]);
      }
      case 'force': {
        const vote = this.recent(operation.vote);
        if (!vote) return;
        const args = [ownerOf(vote), 0, 'revoke', '', INBOX, CLAIM, vote.name];
        return this.one(quorumReleaseScript, vote.name, args);
      }
      case 'query': {
        return this.both(queryScript, quorumKeys.keys(operation.name), []);
      }
    }
  }

  private vote({
    instance,
    name,
    tokens,
    ttl,
    queues,
    late,
  }: Extract<QuorumOperation, { kind: 'vote' }>): Promise<void> {
    const token = this.propose() - (late ? 100_000 : 0);
    const last = token + tokens - 1;
    const place = queues ? this.place(instance) : '';
    const vote = { instance, name, token, args: [instance, token, last, ttl, place, RETENTION] };
    this.votes.push(vote);
    return this.one(quorumAcquireScript, name, vote.args);
  }

  /** Runs a script that takes the requests for several names. */
  private async one(script: LuaScript, name: string, args: Args): Promise<void> {
    const keys = quorumKeys.of(name);
    const [reply] = (await this.redis.run(script, keys, [args.length, ...args])) as unknown[];
    assertEqual(`reply to ${script.name}`, defined(reply), defined(this.memory.run(script.name, keys, args)));
  }

  private async both(script: LuaScript, keys: readonly string[], args: Args): Promise<void> {
    const reply = await this.redis.run(script, keys, args);
    assertEqual(`reply to ${script.name}`, texts(reply), texts(this.memory.run(script.name, keys, args)));
  }

  private async listen(instance: string, listens: boolean): Promise<void> {
    const channel = INBOX + instance;
    await this.redis.listen(channel, listens);
    if (listens) this.memory.subscribe(channel, (message) => this.heard.push(`${channel} ${message}`));
    else this.memory.unsubscribe(channel);
  }

  private async compare(moment: string): Promise<void> {
    const keys = NAMES.flatMap((name) => quorumKeys.of(name));
    const content = (await this.redis.run(contentScript, keys, [])) as unknown[];
    const { published } = await this.redis.look([]);
    const heard = published.filter(([channel]) => this.redis.isHeard(channel)).map((each) => each.join(' '));
    assertEqual(`messages after ${moment}`, heard, this.heard.splice(0));
    for (const [i, name] of NAMES.entries())
      assertEqual(
        `${name} after ${moment}`,
        texts(content[i]),
        texts(this.memory.contentOf(quorumKeys.of(name))),
      );
  }

  /** A token that is greater than all before. */
  private propose(): number {
    return this.redis.now * 1_000 + (this.numbered += 5);
  }

  private place(instance: string): string {
    return `${instance}|${this.redis.now * 1_000}`;
  }

  private recent(which: number): SentVote | undefined {
    return this.votes[this.votes.length - 1 - (which % Math.max(1, this.votes.length))];
  }
}

function ownerOf({ instance, token }: SentVote): string {
  return `${instance}:${token}`;
}

/** A reply without what Lua leaves out at its end. */
function defined(reply: unknown): unknown {
  return Array.isArray(reply) ? reply.filter((each) => each !== undefined) : reply;
}

/** Scores are texts in replies of Redis, and nothing is null there. */
function texts(reply: unknown): unknown {
  return Array.isArray(reply) ? reply.map(texts) : JSON.stringify(reply ?? '').replaceAll('"', '');
}
