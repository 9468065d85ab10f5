/**
 * The anchor of a heading, as GitHub makes it, so that a link is right in the repository and on the site.
 *
 * @param {string} heading
 */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
