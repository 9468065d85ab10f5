/**
 * The script of the page after its tables: requests the locks every few seconds, listens to the events, and fills the
 * tables.
 *
 * It must not contain backslashes, back-quotes or characters beyond ASCII, because it is a string here and is hashed for
 * the Content-Security-Policy.
 */
export const PAGE_SCRIPT = `
const ROWS = 200, LIMIT = 1000, TOP = 10, PACE = 2000, MOST_COUNTED = 2000;
let base = location.pathname;
while (base.endsWith('/')) base = base.slice(0, -1);
const count = new Intl.NumberFormat('en');
const clock = (time) => new Date(time).toTimeString().slice(0, 8);
const duration = (ms) => {
  if (ms === undefined || ms === null) return '';
  if (ms < 1000) return Math.round(ms) + ' ms';
  if (ms < 120000) return (ms / 1000).toFixed(1) + ' s';
  if (ms < 7200000) return Math.round(ms / 60000) + ' min';
  return (ms / 3600000).toFixed(1) + ' h';
};
const instanceOf = (owner) => /^[^~:]*/.exec(owner)[0] || owner;
const permits = (each) => (each.permits === undefined ? '' : ', ' + each.permits + ' permits');
const url = (name) => base + '?name=' + encodeURIComponent(name);
const ask = (address) => fetch(address, { headers: { accept: 'application/json' } });

const state = { paused: false, data: undefined, grants: new Map(), labels: new Map(), waits: [], recent: [], open: undefined };

/** Stores a value in a map of bounded size. Nobody reads more names. */
function remember(map, name, value) {
  if (map.size >= MOST_COUNTED && !map.has(name)) map.delete(map.keys().next().value);
  map.set(name, value);
}

/** The label of a hold, or of the last one that this page has seen: short holds have ended before their holder replies. */
function labelOf(name, current) {
  const last = state.labels.get(name);
  return current ?? (last === undefined ? '' : last + ' (last known)');
}

function show() {
  const { data } = state;
  if (data === undefined) return;
  const own = new Map(data.holds.map((each) => [each.name, each]));
  const at = Date.parse(data.at);
  const named = data.names.map((each) => ({
    ...each,
    age: own.get(each.name)?.age ?? (each.since === undefined ? undefined : Math.max(0, at - Date.parse(each.since))),
    label: each.holders > 1 ? undefined : each.label ?? own.get(each.name)?.label,
  }));
  for (const { name, label } of named) if (label !== undefined) remember(state.labels, name, label);
  const names = named.sort((a, b) => sort.order * COMPARE[sort.by](a, b) || COMPARE.name(a, b));
  const mine = data.instance.host + '-' + data.instance.pid;
  put('instance', mine);
  $('trouble').hidden = data.trouble === undefined;
  put('trouble', data.trouble === undefined ? '' : 'The held names could not be listed: ' + data.trouble);
  put('held', count.format(names.length) + (data.isPart ? '+' : ''));
  put('waiting', count.format(names.reduce((sum, { waiting }) => sum + waiting, 0)) + (data.isPart ? '+' : ''));
  put('own', count.format(data.holdCount));
  put('lost-count', count.format(data.lost.length) + (data.lost.length === 100 ? '+' : ''));
  $('lost-count').className = data.lost.length > 0 ? 'bad' : '';
  const shown = names.slice(0, ROWS);
  const of = data.isPart ? ' of the first ' + count.format(names.length) + ' names; there are more. Narrow them down by prefix.' : ' of ' + count.format(names.length) + ' names.';
  const all = count.format(names.length) + (names.length === 1 ? ' name.' : ' names.');
  put('part', shown.length < names.length || data.isPart ? 'Showing ' + count.format(shown.length) + of : all);
  fill('names', [{ sort: 'name' }, { sort: 'age' }, { sort: 'waiting' }, 'label', 'instance', 'lease left', 'mode'], shown.map((each) => [
    { name: each.name },
    { number: duration(each.age) },
    { number: count.format(each.waiting) },
    each.holders > 1 ? count.format(each.holders) + ' holders' : labelOf(each.name, each.label),
    { instance: each.owner === 'shared' ? '' : instanceOf(each.owner) },
    { number: each.remaining === undefined ? 'no expiry' : duration(each.remaining) },
    each.mode + permits(each),
  ]), data.trouble === undefined ? 'Nothing is held.' : 'Not known.');
  fill('holds', ['name', 'age', 'waiting here', 'label'], data.holds.slice(0, TOP).map((each) => [
    { name: each.name }, { number: duration(each.age) }, { number: count.format(each.waiting) }, (each.label ?? each.method ?? '') + permits(each),
  ]), 'This instance holds nothing.');
  fill('lost', ['name', 'time', 'held for', 'reason', 'label'], data.lost.slice(0, TOP).map((each) => [
    { name: each.name }, { number: clock(each.at) }, { number: duration(each.age) }, each.reason, each.label ?? each.method ?? '',
  ]), 'None.');
  const instances = new Map();
  for (const { owner } of names) {
    if (owner !== 'shared') instances.set(instanceOf(owner), (instances.get(instanceOf(owner)) ?? 0) + 1);
  }
  fill('instances', ['instance', 'names held'], [...instances].sort((a, b) => b[1] - a[1]).slice(0, 50).map(([name, held]) => [
    { instance: name.startsWith(mine + '-') ? name + ' (this one)' : name }, { number: count.format(held) },
  ]), 'None holds anything.');
  showActivity();
}

function showActivity() {
  const waiting = new Map((state.data?.names ?? []).map((each) => [each.name, each.waiting]));
  const names = new Set([...state.grants.keys(), ...[...waiting].filter(([, number]) => number > 0).map(([name]) => name)]);
  const heat = [...names].map((name) => ({ name, waiting: waiting.get(name) ?? 0, grants: state.grants.get(name) ?? 0 }));
  heat.sort((a, b) => b.waiting - a.waiting || b.grants - a.grants);
  fill('hot', ['name', 'waiting', 'granted here', 'label'], heat.slice(0, TOP).map((each) => [
    { name: each.name }, { number: count.format(each.waiting) }, { number: count.format(each.grants) }, state.labels.get(each.name) ?? '',
  ]), 'No waiters.');
  fill('waits', ['name', 'waited', 'outcome', 'label'], state.waits.map((each) => [
    { name: each.name }, { number: duration(each.waited) }, each.outcome, each.label ?? each.method ?? '',
  ]), 'None yet.');
  const now = performance.now();
  state.recent = state.recent.filter((time) => now - time.at < 5000);
  put('rate', count.format(Math.round(state.recent.reduce((sum, each) => sum + each.count, 0) / 5)));
}

let timer, asked = 0;
async function poll() {
  clearTimeout(timer);
  const request = (asked += 1);
  const began = performance.now();
  try {
    if (!state.paused && !document.hidden) {
      const response = await ask(base + '?limit=' + LIMIT + '&prefix=' + encodeURIComponent($('prefix').value));
      if (request !== asked) return;
      if (response.ok) {
        state.data = await response.json();
        if (request !== asked) return;
        show();
        if (state.trouble) put('state', '');
        state.trouble = false;
      } else {
        trouble('The application replied ' + response.status + '.');
      }
    }
  } catch {
    if (request === asked) trouble('The application does not answer. Trying again.');
  }
  if (request !== asked) return;
  // A slow listing is requested less often.
  timer = setTimeout(poll, Math.max(PACE, 10 * (performance.now() - began)));
}

function trouble(text) {
  state.trouble = true;
  put('state', text);
}

function watch() {
  const source = new EventSource(base + '/events');
  const on = (type, listener) => source.addEventListener(type, ({ data }) => listener(JSON.parse(data)));
  const waited = (event, outcome) => {
    const worst = state.waits.at(-1)?.waited ?? 0;
    if (state.waits.length === TOP && event.waited <= worst) return;
    state.waits = [...state.waits, { ...event, outcome }].sort((a, b) => b.waited - a.waited).slice(0, TOP);
  };
  const granted = (number) => {
    const last = state.recent.at(-1);
    const now = performance.now();
    if (last !== undefined && now - last.at < 100) last.count += number;
    else state.recent.push({ at: now, count: number });
  };
  on('acquire:granted', (event) => {
    granted(1);
    remember(state.grants, event.name, (state.grants.get(event.name) ?? 0) + 1);
    if (event.label !== undefined) remember(state.labels, event.name, event.label);
    waited(event, 'granted');
  });
  on('acquire:timeout', (event) => waited(event, 'timed out'));
  on('acquire:shared', (event) => waited(event, 'result shared'));
  on('acquire:failed', (event) => waited(event, event.error));
  on('hold:lost', () => poll());
}

async function open(name) {
  state.open = name;
  put('detail-title', name);
  put('detail-state', '');
  $('release').hidden = true;
  fill('holders', ['holder', 'label', 'since', 'lease left', 'fencing token'], [], 'Loading.');
  fill('waiters', ['waiting instance', 'waited'], [], 'Loading.');
  if (!$('detail').open) $('detail').showModal();
  try {
    const response = await ask(url(name));
    if (state.open !== name) return;
    if (!response.ok) return put('detail-state', 'The application replied ' + response.status + '.');
    const { held, pending, done } = await response.json();
    const time = (of) => new Date(of).toLocaleString();
    if (done) put('detail-state', 'A result is kept from ' + time(done.at) + ' until ' + time(done.until) + '.');
    fill('holders', ['holder', 'label', 'since', 'lease left', 'fencing token'], held.map((each) => [
      each.owner + permits(each), each.label ?? '', each.since === undefined ? '' : clock(each.since),
      { number: each.remaining === undefined ? 'no expiry' : duration(each.remaining) }, { number: String(each.fencingToken ?? '') },
    ]), 'Nobody holds it.');
    fill('waiters', ['waiting instance', 'waited'], pending.map((each) => [each.owner + permits(each), { number: duration(each.waited) }]), 'No waiters.');
    $('release').hidden = !state.data?.actions || held.length === 0;
    $('sure').checked = false;
    $('force').disabled = true;
    $('force').dataset.owners = held.map((each) => '&owner=' + encodeURIComponent(each.owner)).join('');
  } catch {
    put('detail-state', 'The application does not answer.');
  }
}

async function release() {
  const name = state.open;
  const { owners } = $('force').dataset;
  $('force').disabled = true;
  try {
    const response = await fetch(url(name) + owners, { method: 'DELETE', headers: { 'x-lock-inspector': 'page', accept: 'application/json' } });
    const answer = await response.json();
    await open(name);
    put('detail-state', response.ok ? (answer.released ? 'Released.' : 'It was already free.') : answer.message ?? 'The application replied ' + response.status + '.');
  } catch {
    put('detail-state', 'The application does not answer. It may have been released.');
  }
  void poll();
}

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return;
  if (target.dataset.name !== undefined) void open(target.dataset.name);
  const by = target.dataset.sort;
  if (by === undefined) return;
  sort.order = by === sort.by ? -sort.order : by === 'name' ? 1 : -1;
  sort.by = by;
  pressed = undefined;
  show();
});
document.addEventListener('pointerdown', ({ target }) => { pressed = target; });
for (const type of ['click', 'pointercancel', 'pointerup'])
  document.addEventListener(type, () => setTimeout(() => { pressed = undefined; }));
document.addEventListener('visibilitychange', () => document.hidden || poll());
let typing;
$('prefix').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(poll, 200);
});
$('pause').addEventListener('click', () => {
  state.paused = !state.paused;
  $('pause').setAttribute('aria-pressed', String(state.paused));
  put('state', state.paused ? 'Paused' : '');
  if (!state.paused) void poll();
});
$('close').addEventListener('click', () => $('detail').close());
$('detail').addEventListener('close', () => { state.open = undefined; });
$('sure').addEventListener('change', () => { $('force').disabled = !$('sure').checked; });
$('force').addEventListener('click', release);
for (const table of document.querySelectorAll('section table')) table.setAttribute('aria-labelledby', table.id + '-title');
$('holders').setAttribute('aria-label', 'Holders');
$('waiters').setAttribute('aria-label', 'Waiting instances');
setInterval(() => state.paused || document.hidden || showActivity(), 1000);
watch();
void poll();
`;
