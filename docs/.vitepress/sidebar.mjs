/**
 * Every page of the site, once; test/docs holds it against the files. A new page goes where its readers look.
 *
 * @type {{ text: string; items: { text: string; link: string }[] }[]}
 */
export const sidebar = [
  {
    text: 'Begin',
    items: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Which lock do I need', link: '/guide/which-lock' },
      { text: 'Recipes', link: '/recipes/' },
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
  },
  {
    text: 'Recipes',
    items: [
      { text: 'Cron on one replica', link: '/recipes/cron' },
      { text: 'BullMQ, per customer', link: '/recipes/bullmq-per-customer' },
      { text: 'Request to worker', link: '/recipes/request-to-worker' },
      { text: 'Cache rebuild', link: '/recipes/cache-rebuild' },
      { text: 'Migrations once', link: '/recipes/migrations-once' },
      { text: 'Leader and outbox', link: '/recipes/outbox' },
      { text: 'Transactions', link: '/recipes/transactions' },
      { text: 'Fencing, by ORM', link: '/recipes/fencing' },
      { text: 'Idempotency', link: '/recipes/idempotency' },
    ],
  },
  {
    text: 'Guide',
    items: [
      { text: 'The decorator', link: '/guide/decorator' },
      { text: 'Keys', link: '/guide/keys' },
      { text: 'Places', link: '/guide/places' },
      { text: 'The service, leader', link: '/guide/service' },
      { text: 'Run once', link: '/guide/once' },
      { text: 'Several names, deadlocks', link: '/guide/several-names' },
      { text: 'Readers and semaphores', link: '/guide/readers-and-semaphores' },
      { text: 'Detach and attach', link: '/guide/detach-and-attach' },
      { text: 'Testing', link: '/guide/testing' },
      { text: 'Connections', link: '/guide/connections' },
      { text: 'Options', link: '/guide/options' },
      { text: 'Errors', link: '/guide/errors' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'Going to production', link: '/operate/production' },
      { text: 'Servers and clients', link: '/servers' },
      { text: 'Hosted services', link: '/operate/hosted' },
      { text: 'Rights and keys', link: '/operate/rights-and-keys' },
      { text: 'Shutdown and outages', link: '/operate/shutdown-and-outages' },
      { text: 'Metrics, traces, health', link: '/operate/metrics' },
      { text: 'Runbook', link: '/operate/runbook' },
      { text: 'Command line, inspector', link: '/operate/cli' },
      { text: 'More than one Redis', link: '/operate/topologies' },
    ],
  },
  {
    text: 'Choose',
    items: [
      { text: 'Compare and speed', link: '/compare' },
      { text: 'Migrating', link: '/migrating' },
      { text: 'Versions', link: '/versions' },
    ],
  },
  {
    text: 'How it works',
    items: [
      { text: 'How it works', link: '/how-it-works/' },
      { text: 'The Nest side', link: '/how-it-works/nest-side' },
      { text: 'The protocol', link: '/how-it-works/protocol' },
      { text: 'Not the obvious way', link: '/how-it-works/why' },
      { text: 'Shared holds', link: '/how-it-works/shared-holds' },
      { text: 'Cluster and quorum', link: '/how-it-works/quorum' },
      { text: 'Faults', link: '/how-it-works/faults' },
      { text: 'Verification', link: '/how-it-works/verification' },
    ],
  },
];

/**
 * The pages in Chinese, each a counterpart of an English page at the same path below /zh-CN, except the one on Redisson.
 *
 * @type {typeof sidebar}
 */
export const chineseSidebar = [
  {
    text: '入门',
    items: [
      { text: '快速开始', link: '/zh-CN/quick-start' },
      { text: '该用哪种锁', link: '/zh-CN/guide/which-lock' },
      { text: '从 Redisson 迁移', link: '/zh-CN/redisson' },
      { text: '能保证什么', link: '/zh-CN/guarantees' },
      { text: '问题排查', link: '/zh-CN/troubleshooting' },
    ],
  },
  {
    text: '实践方案',
    items: [
      { text: '定时任务', link: '/zh-CN/recipes/cron' },
      { text: '缓存重建', link: '/zh-CN/recipes/cache-rebuild' },
    ],
  },
];
