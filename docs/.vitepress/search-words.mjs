/**
 * What readers call a page, or a section of it, in words that it does not use: often those of another package. The search
 * reads them below the heading. They are no frontmatter because GitHub shows that as a table.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const searchWords = {
  'quick-start.md': 'install setup getting started tutorial hello world forRoot forRootAsync',
  'troubleshooting.md': 'problem bug help not working',
  'compare.md': 'benchmark performance throughput latency fastest alternatives vs',
  'versions.md': 'upgrade update breaking changes semver support',
  'servers.md': 'dragonfly keydb valkey garnet kvrocks',
  'guide/which-lock.md':
    'mutex rate limiter limiting throttle optimistic pessimistic advisory select for update',
  'guide/decorator.md': 'decorator order metadata interceptor guard pipe above below',
  'guide/keys.md':
    'body dto query param user id argument resource dynamic key same different services methods class name',
  'guide/keys.md#a-tenant-in-every-key': 'multi tenant multitenancy',
  'guide/places.md': 'websocket resolver subscription event listener middleware fastify',
  'guide/places.md#microservices': 'kafka rabbitmq nats mqtt sqs tcp message broker consumer',
  'guide/service.md':
    'tryLock fail immediately already locked nowait isLocked check if a key is locked unlock',
  'guide/service.md#a-lock': 'check expired isAcquired isLocked still held valid',
  'guide/service.md#re-entrance': 'nested reentrant recursive',
  'guide/service.md#leader': 'election singleton standby active',
  'guide/several-names.md': 'multiple resources keys multilock batch all or nothing cluster mode',
  'guide/readers-and-semaphores.md': 'concurrency maximum parallel pool bulkhead rwlock',
  'guide/detach-and-attach.md':
    'release in another process transfer hand over identifier externally acquired',
  'guide/connections.md': 'existing client share instance createClient defineCommand is not a function',
  'guide/testing.md': 'jest vitest mock stub',
  'guide/options.md#options-of-an-acquire':
    'timeout expiry expiration expires auto renew renewal extend extension watchdog refresh interval heartbeat retry retries retryCount retryDelay attempts backoff cancel abort',
  'guide/errors.md': 'exception status code 423 503 409 conflict ResourceLockedError ExecutionError',
  'operate/runbook.md#a-lock-hangs': 'stuck frozen zombie never released',
  'operate/runbook.md#holds-are-lost': 'mutex event loop blocked high load cpu standby sleep breakpoint',
  'operate/shutdown-and-outages.md#shutdown': 'not released process stopped killed restart deploy hot reload',
  'operate/topologies.md#sentinel': 'high availability master slave',
  'operate/topologies.md#redis-cluster': 'support shards hash tag',
  'operate/topologies.md#a-quorum': 'redlock algorithm unable to achieve independent masters',
  'operate/hosted.md': 'aws gcp cloud managed',
  'migrating.md#from-redlock': 'unable to achieve a quorum during its retry window retryCount ExecutionError',
  'recipes/cron.md': 'scheduled job every instance multiple duplicate twice once pm2 cores',
  'recipes/request-to-worker.md': 'release in another process background job',
  'recipes/transactions.md': 'released before commits rollback isolation',
  'recipes/idempotency.md': 'double payment charge twice duplicate click submit',
  'recipes/cache-rebuild.md': 'thundering herd dogpile',
  'zh-CN/quick-start.md': '秒杀 抢购 超卖 扣库存 安装 入门 教程',
  'zh-CN/guide/which-lock.md#按要避免的问题选': '选锁 信号量 读写锁 互斥锁 乐观锁 悲观锁 限流 幂等 选主',
  'zh-CN/redisson.md#术语对照': '看门狗 红锁 可重入锁 公平锁 联锁 死锁 自动续期',
  'zh-CN/redisson.md#api-对照': 'tryLock lock unlock leaseTime waitTime',
  'zh-CN/guarantees.md': '脑裂 时钟回拨',
  'zh-CN/troubleshooting.md#锁卡住了': '锁不释放',
  'zh-CN/recipes/cron.md': '重复执行 多实例 分布式定时任务',
  'zh-CN/recipes/cache-rebuild.md': '缓存击穿 缓存雪崩 双重检查',
};
