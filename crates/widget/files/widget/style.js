// The looks of the panel. Every colour and measure that an owner may want to change is a custom property.
export const STYLE = `
.panel { --accent: var(--docent-accent, #4f46e5); --on-accent: var(--docent-accent-text, #fff); --ground: var(--docent-background, #fff); --text: var(--docent-text, #1c1e26);
  --soft: var(--docent-muted, #5d6270); --line: var(--docent-border, #e3e5eb); --raised: var(--docent-surface, #f5f6f9); --link: var(--docent-link, #4338ca); --bad: #b42318; --mark: var(--accent); color-scheme: light;
  box-sizing: border-box; display: flex; flex-direction: column; height: 100%; overflow: hidden; pointer-events: auto; color: var(--text); background: var(--ground);
  font: 15px/1.55 var(--docent-font, system-ui, "Segoe UI", Roboto, sans-serif); text-align: start; border: 1px solid var(--line); border-radius: var(--docent-radius, 14px) }
.panel[data-theme=dark] { --ground: var(--docent-background, #16171d); --text: var(--docent-text, #e9eaf0); --soft: var(--docent-muted, #a2a6b4); --line: var(--docent-border, #30323c);
  --raised: var(--docent-surface, #20222a); --link: var(--docent-link, #a5b4fc); --bad: #ff9b90; --mark: var(--link); color-scheme: dark }
.panel *, .panel *::before { box-sizing: border-box }
.floats { position: fixed; width: var(--docent-width, 420px); height: min(var(--docent-height, 680px), 100dvh - 40px);
  box-shadow: 0 12px 48px #0000002e, 0 2px 8px #0000001a; animation: rise .18s }
@keyframes rise { from { opacity: 0; transform: translateY(10px) } }
.header { display: flex; align-items: center; gap: 4px; padding: 10px; padding-inline-start: 18px; border-bottom: 1px solid var(--line) }
h2 { flex: 1; margin: 0; font-size: 16px; font-weight: 650 }
button, textarea { font: inherit; color: inherit }
button { cursor: pointer }
.icon { display: inline-grid; place-items: center; flex: none; width: 34px; height: 34px; padding: 0; color: var(--soft); background: none; border: 1px solid transparent; border-radius: 9px }
.icon:hover { color: var(--text); background: var(--raised) }
.icon svg { width: 18px; height: 18px; stroke-linejoin: round; stroke-width: 1.8 }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 18px; scrollbar-width: thin; overflow-wrap: anywhere }
.log:empty { padding: 0; flex: 0 }
.searches .log { padding: 8px 14px 14px }
.searches.floats { height: auto; max-height: min(var(--docent-height, 680px), 100dvh - 40px) }
.welcome { color: var(--soft) }
.welcome p { margin: 0 0 14px }
.questions { display: flex; flex-direction: column; align-items: flex-start; gap: 8px }
.questions button, .plain { padding: 8px 14px; text-align: start; color: var(--text); background: var(--ground); border: 1px solid var(--line); border-radius: 10px; font-size: 14px; line-height: 1.4 }
.questions button:hover, .plain:hover { background: var(--raised); border-color: var(--accent) }
.turn + .turn { margin-top: 28px }
.question { width: fit-content; max-width: 88%; margin: 0 0 14px; margin-inline-start: auto; padding: 9px 14px; font-size: 15px; font-weight: 400; line-height: 1.45; white-space: pre-wrap; background: var(--raised); border-radius: 14px; border-end-end-radius: 4px }
.quoted { margin: 0 0 6px; padding-inline-start: 10px; font-size: 13px; color: var(--soft); border-inline-start: 3px solid var(--line); display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden }
.question, .answer :is(p, li, h4, h5, h6, td) { unicode-bidi: plaintext }
.answer > * { margin: 0 0 12px }
.answer > :last-child { margin-bottom: 0 }
.answer :is(h4, h5, h6) { margin: 18px 0 8px; font-size: 15px; font-weight: 650; line-height: 1.35 }
.answer > :first-child { margin-top: 0 }
.answer :is(ul, ol) { padding-inline-start: 22px }
.answer li { margin: 4px 0 }
.answer li > :is(p, ul, ol) { margin: 0 }
.answer li > p + * { margin-top: 4px }
.answer a, .help { color: var(--link); text-decoration: underline; text-underline-offset: 2px }
.answer a:hover { text-decoration-thickness: 2px }
.answer img { max-width: 100% }
.answer code { font: .88em/1.5 var(--docent-font-mono, ui-monospace, SFMono-Regular, Menlo, Consolas, monospace); padding: 1px 5px; background: var(--raised); border: 1px solid var(--line); border-radius: 5px }
.answer blockquote { padding-inline-start: 12px; color: var(--soft); border-inline-start: 3px solid var(--line) }
.answer blockquote > * { margin: 0 0 6px }
.answer hr { border: 0; border-top: 1px solid var(--line) }
.code { border: 1px solid var(--line); border-radius: 10px; overflow: hidden; background: var(--raised) }
.code > div { display: flex; justify-content: space-between; align-items: center; padding: 4px 6px 4px 12px; font-size: 12px; color: var(--soft); border-bottom: 1px solid var(--line) }
.code button { padding: 2px 8px; color: inherit; background: none; border: 1px solid transparent; border-radius: 6px; font-size: 12px }
.code button:hover { color: var(--text); border-color: var(--line); background: var(--ground) }
.code pre { margin: 0; padding: 10px 12px; overflow-x: auto; direction: ltr; text-align: left }
.code pre code { padding: 0; border: 0; background: none; font-size: 13px; overflow-wrap: normal; white-space: pre }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: 10px }
table { border-collapse: collapse; width: 100%; font-size: 14px }
td { padding: 7px 12px; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); min-width: 5em; overflow-wrap: normal }
td code { white-space: nowrap }
tr:first-child td { font-weight: 600; background: var(--raised) }
tr:last-child td { border-bottom: 0 }
.after h4, .welcome h4 { margin: 18px 0 8px; font-size: 13px; font-weight: 600; color: var(--soft) }
.cards { display: grid; gap: 8px; margin: 0; padding: 0; list-style: none }
.cards a { display: flex; gap: 10px; align-items: center; padding: 9px 12px; color: inherit; text-decoration: none; border: 1px solid var(--line); border-radius: 10px }
.cards a:hover { background: var(--raised); border-color: var(--accent) }
.cards svg { flex: none; width: 18px; height: 18px; color: var(--soft) }
.cards span { min-width: 0; display: grid }
.cards b { font-size: 14px; font-weight: 600 }
.cards small { font-size: 12.5px; color: var(--soft); overflow: hidden; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical }
.rating { margin-top: 12px }
.thumbs { margin-inline-start: -9px }
.thumbs, .actions { display: flex; flex-wrap: wrap; align-items: center; gap: 4px }
.actions { gap: 8px }
.thumbs .help { margin-inline-start: 8px; font-size: 13px }
.icon[aria-pressed=true] { color: var(--mark); background: var(--raised) }
.comment { display: grid; gap: 8px; justify-items: start; margin-top: 8px }
.comment textarea { width: 100%; padding: 8px 12px; background: var(--ground); border: 1px solid var(--line); border-radius: 10px; resize: vertical }
.soft { margin: 10px 0 0; font-size: 14px; color: var(--soft) }
.trouble { margin: 12px 0 0; padding: 12px 14px; border: 1px solid var(--line); border-inline-start: 3px solid var(--bad); border-radius: 10px; font-size: 14px }
.trouble p { margin: 0 0 10px }
.trouble .cards { margin-top: 10px }
.wait { display: flex; gap: 5px; padding: 8px 2px }
.wait span { width: 7px; height: 7px; border-radius: 9px; background: var(--soft); animation: beat 1.2s infinite }
.wait span:nth-child(2) { animation-delay: .15s }
.wait span:nth-child(3) { animation-delay: .3s }
@keyframes beat { 0%, 60%, 100% { opacity: .25 } 30% { opacity: 1 } }
.form { padding: 12px 14px 0 }
.searches .form { padding-bottom: 12px }
.line { display: flex; align-items: flex-end; gap: 6px; padding: 5px; background: var(--ground); border: 1px solid var(--line); border-radius: 13px }
.line:focus-within { border-color: var(--accent); outline: 1px solid var(--accent) }
.line textarea { flex: 1; min-width: 0; height: 34px; max-height: 140px; padding: 6px 9px; line-height: 22px; background: none; border: 0; outline: 0; resize: none }
textarea::placeholder { color: var(--soft); opacity: 1 }
.send, .send:hover { color: var(--on-accent); background: var(--accent) }
[dir=rtl] .send svg { transform: scaleX(-1) }
.send:hover { filter: brightness(1.1) }
.chip { display: flex; align-items: center; gap: 4px; margin-bottom: 8px; padding-inline-start: 12px; font-size: 13px; color: var(--soft); background: var(--raised); border-radius: 10px }
.chip span { flex: 1; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.note { margin: 0; padding: 7px 18px 10px; font-size: 12px; line-height: 1.4; text-align: center; color: var(--soft) }
.status { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.panel :focus-visible:not(.line textarea) { outline: 2px solid var(--mark); outline-offset: 2px }
@media (max-width: 520px) { .floats, .searches.floats { inset: 0; max-height: none; width: 100%; height: 100%; border: 0; border-radius: 0 } .line textarea { font-size: 16px } }
@media (prefers-reduced-motion: reduce) { .floats, .wait span { animation: none } }
@media (forced-colors: active) { .send, .icon, .question, .code, .trouble { border: 1px solid ButtonText } .icon[aria-pressed=true] { background: Highlight; color: HighlightText } }`;
