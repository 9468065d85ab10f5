import { renderedPages } from './rendered-pages.js';

/** Of a page: what a reader sees, without code. */
function textOf(html: string): string {
  return html.replaceAll(/<(pre|code|svg|figure)\b.*?<\/\1>/gs, '…').replaceAll(/<!--.*?-->|<[^>]*>/gs, '');
}

const pages = Object.entries(renderedPages().html).filter(([path]) => !path.startsWith('api/'));

// Markdown ends **emphasis** neither between a full-width sign and a letter, nor _emphasis_ beside a letter.
it.each(pages)('%s shows no mark of Markdown', (_path, html) => {
  const marks = textOf(html).match(/.{0,20}(?:\*\*|(?<![a-z\d])_|_(?![a-z\d])|\]\().{0,20}/gi) ?? [];
  expect(marks).toEqual([]);
});
