import { defineConfig } from 'vitepress';
import llmstxt from 'vitepress-plugin-llms';
import { drawings } from './drawings.mjs';
import { repositoryLinks } from './repository-links.mjs';
import { sidebar } from './sidebar.mjs';
import site from './site.json' with { type: 'json' };
import { slugOf } from './slug.mjs';

/** @type {{ repository: string | null; homepage: string | null }} */
const { repository, homepage } = site;

export default defineConfig({
  title: 'nest-redis-lock',
  description: 'Distributed locks on Redis for NestJS',
  lang: 'en',
  base: homepage === null ? '/' : new URL(homepage).pathname.replace(/\/?$/, '/'),
  outDir: '../.cache/site',
  cacheDir: '../.cache/vitepress',
  ...(homepage !== null && { sitemap: { hostname: homepage } }),
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      repositoryLinks(md, repository);
      drawings(md);
    },
  },
  vite: {
    plugins: [llmstxt({ ignoreFiles: ['api/**'] })],
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar,
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Guide', link: '/guide/decorator' },
      { text: 'Operate', link: '/operate/' },
      { text: 'API', link: '/api/' },
    ],
    ...(repository !== null && { socialLinks: [{ icon: 'git', link: repository }] }),
  },
});
