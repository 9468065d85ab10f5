/**
 * The part of the page's script that fills tables.
 *
 * Data from the server enters the page as text, never as HTML. Like the rest of the script, it must not contain
 * backslashes, back-quotes or characters beyond ASCII.
 */
export const PAGE_TABLES = `
'use strict';
const $ = (id) => document.getElementById(id);

/** The columns by which the names can be sorted. */
const COMPARE = {
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  age: (a, b) => (a.age ?? -1) - (b.age ?? -1),
  waiting: (a, b) => a.waiting - b.waiting,
};
const sort = { by: 'age', order: -1 };

/** The content of each table, by its id. */
const filled = new Map();
let pressed;

function put(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function element(tag, text, className = '') {
  return Object.assign(document.createElement(tag), { textContent: text, className });
}

/** An element with a text that may break after the characters between the parts of names. */
function breakable(tag, text, className = '') {
  const whole = element(tag, '', className);
  for (const part of text.split(/(?<=[.:/])/)) whole.append(part, document.createElement('wbr'));
  return whole;
}

function button(content, className, data) {
  const made = Object.assign(breakable('button', content, className), { type: 'button' });
  Object.assign(made.dataset, data);
  return made;
}

function withButton(tag, button, className) {
  const cell = element(tag, '', className);
  cell.append(button);
  return cell;
}

/** Text, a number of something with { number }, an instance with { instance }, or a name to open with { name }. */
function cellOf(content) {
  if (content?.number !== undefined) return element('td', content.number, 'number');
  if (content?.instance !== undefined) return element('td', content.instance, 'instance');
  if (content?.name === undefined) return breakable('td', content ?? '');
  return withButton('td', button(content.name, 'name', { name: content.name }));
}

/** The head of a column: text, or a button to sort with { sort }. */
function headOf(head, className) {
  const cell = head.sort === undefined ? element('th', head, className) : withButton('th', button(head.sort, 'sort', head), className);
  if (head.sort === sort.by) cell.ariaSort = sort.order > 0 ? 'ascending' : 'descending';
  return Object.assign(cell, { scope: 'col' });
}

function fill(id, heads, rows, none) {
  const table = $(id);
  const content = JSON.stringify([rows, none, sort]);
  // A table with a pressed button stays, or the click would be lost.
  if (filled.get(id) === content || (pressed && table.contains(pressed))) return;
  filled.set(id, content);
  const active = document.activeElement;
  const focused = table.contains(active) && active instanceof HTMLButtonElement ? active.dataset : undefined;
  const head = document.createElement('thead');
  const isNumber = (column) => rows[0]?.[column]?.number !== undefined;
  head.insertRow().append(...heads.map((each, i) => headOf(each, isNumber(i) ? 'number' : '')));
  const body = document.createElement('tbody');
  for (const cells of rows) body.insertRow().append(...cells.map(cellOf));
  if (rows.length === 0) body.insertRow().append(Object.assign(element('td', none, 'none'), { colSpan: heads.length }));
  table.replaceChildren(head, body);
  if (focused === undefined) return;
  const isSame = ({ dataset }) => dataset.name === focused.name && dataset.sort === focused.sort;
  [...table.querySelectorAll('button')].find(isSame)?.focus({ preventScroll: true });
}
`;
