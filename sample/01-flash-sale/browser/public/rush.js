/** @typedef {import('./main.js').SaleMode} SaleMode */

/**
 * Sends a rush of buyers over all instances, and waits for its end.
 *
 * @param {SaleMode} mode
 * @returns {Promise<string>} what went wrong, or nothing
 */
export async function sendRush(mode) {
  try {
    const response = await fetch('/rushes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mode }),
    });
    if (response.ok) return '';
    if (response.status === 423) return 'Another page has just sent a rush. Wait for its end.';
    if (response.status === 503) return 'Redis does not answer, so there is no lock, and no rush.';
    return `The rush ended early: ${response.status} ${response.statusText}`;
  } catch {
    return 'This instance does not answer.';
  }
}
