import { dataSymbol, useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { computed, defineComponent, h, provide } from 'vue';
import { chineseSidebar, sidebar } from '../sidebar.mjs';
import './colours.css';
import './drawings.css';
import './home.css';
import './tables-and-code.css';

/** The theme's own has no main landmark. */
const notFound = () =>
  h('main', { class: 'vp-doc', style: 'padding: 4rem 2rem; text-align: center' }, [
    h('h1', 'There is no such page'),
    h('p', [
      'Search for it above, or begin with the ',
      h('a', { href: withBase('/quick-start.html') }, 'quick start'),
      '.',
    ]),
  ]);

/** The switch of languages leads to the same page, or to the first page of the other language if it has no such page. */
const Layout = defineComponent(() => {
  const data = useData();
  const theme = computed(() => ({ ...data.theme.value, i18nRouting: isTranslated(data) }));
  provide(dataSymbol, { ...data, theme });
  return () => h(DefaultTheme.Layout, null, { 'not-found': notFound });
});

/** @param {import('vitepress').VitePressData} data */
function isTranslated({ page }) {
  const path = `/${page.value.relativePath.replace(/^zh-CN\//, '').replace(/(?:index)?\.md$/, '')}`;
  const links = [...sidebar, ...chineseSidebar].flatMap(({ items }) => items.map(({ link }) => link));
  return links.includes(path) && links.includes(`/zh-CN${path}`);
}

export default { extends: DefaultTheme, Layout };
