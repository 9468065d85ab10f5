import { here, next, previous } from './tour.js';

document.title = `${here.title} · nest-redis-lock`;

addEventListener('keydown', ({ key, altKey, ctrlKey, metaKey, shiftKey }) => {
  if (altKey || ctrlKey || metaKey || shiftKey) return;
  const stop = key === 'ArrowRight' ? next : key === 'ArrowLeft' ? previous : undefined;
  if (stop) location.assign(stop.path);
});

void import(`./${here.name}.js`);
