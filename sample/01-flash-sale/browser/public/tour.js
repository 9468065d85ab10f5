/** @typedef {{ name: string, path: string, title: string, teaser: string }} Stop */

/**
 * The pages of the tour, in order. Each has a script of its name.
 *
 * @type {readonly [Stop, ...Stop[]]}
 */
export const STOPS = [
  { name: 'sale', path: '/', title: 'Flash sale', teaser: 'Three instances, one product' },
  { name: 'fencing', path: '/fencing/', title: 'Fencing token', teaser: 'Two writers, one of them frozen' },
  { name: 'takeover', path: '/takeover/', title: 'Killed holder', teaser: 'The next worker continues' },
];

export const here = STOPS.find(({ path }) => path === location.pathname) ?? STOPS[0];
const place = STOPS.indexOf(here);
export const previous = STOPS[place - 1];
export const next = STOPS[place + 1];
