import { withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import './contrast.css';
import './drawings.css';

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

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': notFound }),
};
