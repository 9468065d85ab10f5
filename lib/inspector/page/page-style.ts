/** The style of the page, for light and dark. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --bg: #f5f6fa; --card: #fff; --ink: #12141d; --muted: #545b6d; --line: #dfe3ec; --accent: #3b35c8; --bad: #b3122f; }
@media (prefers-color-scheme: dark) { :root { --bg: #0c0f16; --card: #151a25; --ink: #f0f2f8; --muted: #a7b0c3; --line: #2a3242; --accent: #a6a0ff; --bad: #ff7d92; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1rem clamp(.75rem, 3vw, 2rem) 3rem; background: var(--bg); color: var(--ink); font: 1rem/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1, h2, p, dl, dd { margin: 0; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.0625rem; overflow-wrap: anywhere; }
header, .title { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; justify-content: space-between; }
header { justify-content: flex-start; margin-bottom: 1rem; }
header p, .note, dt, #part { color: var(--muted); }
#pause { margin-left: auto; }
.note, #part { font-size: .875rem; }
#instance { overflow-wrap: anywhere; }
section, #tiles div, dialog { min-width: 0; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card); color: var(--ink); }
#tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9rem), 1fr)); gap: .75rem; margin-bottom: 1rem; }
#tiles div { display: flex; flex-direction: column-reverse; padding: .75rem 1rem; }
#tiles dd { font-size: 1.75rem; font-weight: 650; line-height: 1.15; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; margin-top: 1rem; }
.scroll { max-height: 28rem; overflow: auto; margin-top: .5rem; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
th { color: var(--muted); font-size: .8125rem; font-weight: 600; text-align: left; white-space: nowrap; }
.scroll th { position: sticky; top: 0; background: var(--card); }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { max-width: 16rem; overflow-wrap: break-word; }
td:first-child { min-width: 8.5rem; }
td.number, th.number { text-align: right; }
td.number, td.instance { white-space: nowrap; }
td.instance { max-width: none; }
.columns table { font-size: .875rem; }
.columns td { padding-right: .6rem; }
td.none { color: var(--muted); border: 0; }
@media (max-width: 30rem) { td:first-child { max-width: 8.5rem; } }
button, input { font: inherit; color: inherit; }
button, input[type=search] { padding: .25rem .75rem; border: 1px solid var(--muted); border-radius: .5rem; background: var(--card); }
input[type=search] { width: 14rem; max-width: 100%; }
button { cursor: pointer; }
button:disabled { cursor: default; opacity: .6; }
button.sort { padding: 0; border: 0; border-radius: .2rem; background: none; font-weight: inherit; white-space: nowrap; }
button.sort:hover, [aria-sort] button.sort { color: var(--ink); text-decoration: underline; }
button.name { padding: 0; border: 0; border-radius: .2rem; background: none; color: var(--accent); text-align: left; text-decoration: underline; overflow-wrap: inherit; max-width: 100%; }
#force { border-color: var(--bad); color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#trouble, .bad { color: var(--bad); }
#trouble { margin-bottom: 1rem; font-weight: 600; }
dialog { width: min(56rem, calc(100vw - 1.5rem)); max-height: calc(100vh - 2rem); overflow: auto; }
dialog::backdrop { background: rgb(0 0 0 / 50%); }
#release { display: grid; gap: .5rem; margin-top: 1rem; }
#release[hidden] { display: none; }
`;
