const format = new Intl.NumberFormat('en');

/**
 * With a real minus sign, and commas between thousands.
 *
 * @param {number} value
 */
export function number(value) {
  return format.format(value).replace('-', '−');
}

/**
 * @param {number} milliseconds
 */
export function seconds(milliseconds) {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
