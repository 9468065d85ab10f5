/**
 * The colours of the page's theme, for what CSS cannot reach: the canvas.
 *
 * @returns {Record<'ink' | 'muted' | 'line' | 'bad' | 'good' | 'before', string>}
 */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour('ink'),
    muted: colour('muted'),
    line: colour('line'),
    bad: colour('bad'),
    good: colour('good'),
    before: colour('before'),
  };
}

/**
 * @param {string} colour as `#rrggbb`
 * @param {number} opacity between 0 and 1
 */
export function translucent(colour, opacity) {
  return `${colour}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0')}`;
}
