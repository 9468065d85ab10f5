/** Milliseconds between two changes for a reader who asked for less motion. */
const CALM_PACE = 1_000;
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Listens to the pictures that the instance sends; the browser connects again by itself.
 *
 * @template Picture
 * @param {string} url
 * @param {{ onPicture: (picture: Picture) => void, onLost: () => void }} listener
 */
export function watchPictures(url, { onPicture, onLost }) {
  const source = new EventSource(url);
  /** @type {string | undefined} */
  let waiting;
  let shownAt = -Infinity;

  function show() {
    if (waiting === undefined) return;
    shownAt = performance.now();
    onPicture(JSON.parse(waiting));
    waiting = undefined;
  }

  source.addEventListener('message', ({ data }) => {
    const scheduled = waiting !== undefined;
    waiting = data;
    if (scheduled) return;
    const pause = reducedMotion.matches ? shownAt + CALM_PACE - performance.now() : 0;
    if (pause > 0) setTimeout(show, pause);
    else requestAnimationFrame(show);
  });
  source.addEventListener('error', onLost);
}
