import { html, svg } from '/lit-html/lit-html.js';
import { number } from './number.js';

/**
 * The product and what is left of it, counted from the orders.
 *
 * @param {{ stock: number }} next
 * @param {import('./latest-sale.js').LatestSale | undefined} sale
 */
export function productCard(next, sale) {
  const stock = sale?.stock ?? next.stock;
  const left = stock - (sale?.sold ?? 0);
  const owed = left < 0;
  return html`
    <aside class="product card" aria-label="The product" ?data-owed=${owed}>
      <svg class="sneaker" viewBox="0 0 320 176" role="img" aria-label="A sneaker">${sneaker}</svg>
      <div class="shelf">
        <p class="name">Sneaker <span>limited, ${number(stock)} pieces</span></p>
        <p class="stock">
          <strong id="stock">${number(left)}</strong> ${owed ? 'owed to buyers' : 'in stock'}
        </p>
      </div>
    </aside>
  `;
}

const sneaker = svg`
  <path class="upper" d="M40 44C54 64 80 68 102 56L128 34C134 29 142 31 146 37L168 66C190 92 222 98 258 104C284 108 300 120 300 140H28C24 108 28 74 40 44Z" />
  <path class="toe" d="M246 102C280 106 300 118 300 140H222C222 122 230 108 246 102Z" />
  <path class="heel" d="M40 44C46 53 54 59 62 62C56 88 56 114 62 140H28C24 108 28 74 40 44Z" />
  <path class="stripe" d="M86 132C128 128 152 112 170 84" />
  <path class="stripe" d="M116 136C156 132 178 118 194 97" />
  <path class="lace" d="M142 52L122 62M154 68L134 80M168 84L148 98" />
  <path class="sole" d="M20 140H304C308 156 300 166 286 166H40C26 166 18 156 20 140Z" />
`;
