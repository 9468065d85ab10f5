/**
 * Starts something on the instance, and waits for its end.
 *
 * @param {string} url
 * @param {object} body
 * @returns {Promise<string>} what went wrong, or nothing
 */
export async function send(url, body) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.ok) return '';
    if (response.status === 423) return 'Another page has just started a run. Wait for its end.';
    if (response.status === 503) return 'Redis does not answer, so there is no lock, and no run.';
    const { message } = await response.json();
    return message;
  } catch {
    return 'This instance does not answer.';
  }
}
