import { defineConfig } from 'vitepress';
import llmstxt from 'vitepress-plugin-llms';
import manifest from '../../package.json' with { type: 'json' };
import { drawings } from './drawings.mjs';
import { withLayout } from './layout.mjs';
import { repositoryLinks } from './repository-links.mjs';
import { miniSearch, searchableText } from './search.mjs';
import { chineseSidebar, sidebar } from './sidebar.mjs';
import site from './site.json' with { type: 'json' };
import { slugOf } from './slug.mjs';

/** @type {{ repository: string | null; homepage: string | null }} */
const { repository, homepage } = site;

const base = homepage === null ? '/' : new URL(homepage).pathname.replace(/\/?$/, '/');
const version = { text: `v${manifest.version}`, link: '/versions' };

const chineseTheme = {
  sidebar: chineseSidebar,
  nav: [
    { text: '快速开始', link: '/zh-CN/quick-start' },
    { text: '保证', link: '/zh-CN/guarantees' },
    { text: 'Guide', link: '/guide/decorator' },
    { text: 'API', link: '/api/' },
    version,
  ],
  outline: { level: /** @type {[number, number]} */ ([2, 3]), label: '本页目录' },
  docFooter: { prev: '上一页', next: '下一页' },
  darkModeSwitchLabel: '主题',
  lightModeSwitchTitle: '切换到浅色模式',
  darkModeSwitchTitle: '切换到深色模式',
  sidebarMenuLabel: '菜单',
  returnToTopLabel: '回到顶部',
  langMenuLabel: '切换语言',
  skipToContentLabel: '跳到正文',
};

const chineseSearch = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详细列表',
    resetButtonTitle: '清空',
    backButtonTitle: '关闭搜索',
    noResultsText: '没有找到',
    footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
  },
};

export default defineConfig({
  title: 'nest-redis-lock',
  description: 'Distributed locks on Redis for NestJS',
  locales: {
    root: { label: 'English', lang: 'en' },
    'zh-CN': {
      label: '简体中文',
      lang: 'zh-CN',
      description: 'NestJS 的 Redis 分布式锁',
      themeConfig: chineseTheme,
    },
  },
  base,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }],
    ['link', { rel: 'alternate', type: 'text/markdown', title: 'llms.txt', href: `${base}llms.txt` }],
  ],
  outDir: '../.cache/site',
  cacheDir: '../.cache/vitepress',
  ...(homepage !== null && { sitemap: { hostname: homepage } }),
  transformPageData: withLayout,
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      repositoryLinks(md, repository);
      drawings(md);
    },
  },
  vite: {
    plugins: [llmstxt({ ignoreFiles: ['api/**', 'zh-CN/**'] })],
  },
  themeConfig: {
    logo: '/logo.svg',
    search: {
      provider: 'local',
      options: {
        locales: { 'zh-CN': { translations: chineseSearch } },
        detailedView: true,
        miniSearch,
        _render: searchableText,
      },
    },
    sidebar,
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Guide', link: '/guide/decorator' },
      { text: 'Operate', link: '/operate/production' },
      { text: 'API', link: '/api/' },
      version,
    ],
    ...(repository !== null && { socialLinks: [{ icon: 'git', link: repository }] }),
  },
});
