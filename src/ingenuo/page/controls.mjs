// What a reader sets values by. Every control has a `label` for those who do not see it, calls `on(value)` as it moves, and
// `on(null)` where the value is made unknown.
//
//   memo(component, same?)      a component that is drawn again only when its props changed
//   useLater(value, ms)         the value, once it stayed the same for so long
//   <Button on label icon pressed disabled />      icons: undo redo reset copy close check alert minus plus more
//   <Icon name />
//   <Slider label value low high whole typical marks=[{at, k, title}] on />       Delete makes it unknown
//   <NumberField label value placeholder whole on />       text that is no number is said to be none, and changes nothing
//   <Radios label options=[{value, label}] value on unknown />       a group of chips; `unknown` adds one
//   <Combobox label options=[{value, label}] value placeholder on />  filters while typing; takes what is not in the list
//   <Stepper label value on />           0, 1, 2 …
//   <TextField label value pieces=[[text, log odds | null]] pair on />      words highlighted in a layer behind
//   <Choice label options=[{value, label}] value on />      a native select
//   <Notice kind="warning" />
import { Component, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact.mjs";
import { say } from "./language.mjs";
import { colour, figures, shortened } from "./charts.mjs";

const LISTED = 60; // values in the list of a combobox

function shallow(a, b) {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.is(a[name], b[name]));
}

export function memo(component, same = shallow) {
  return class extends Component {
    shouldComponentUpdate(next) {
      return !same(this.props, next);
    }

    render(props) {
      return html`<${component} ...${props} />`;
    }
  };
}

export function useLater(value, ms) {
  const [later, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return later;
}

const ICONS = {
  undo: "M6 5 3 8l3 3M3 8h7a4 4 0 0 1 0 8H7", redo: "m12 5 3 3-3 3M15 8H8a4 4 0 0 0 0 8h3", reset: "M4 9a5.5 5.5 0 1 1 1.6 4M4 13.5V9.6h3.9",
  copy: "M7 7V4h8v8h-3M3 7h9v9H3z", close: "m5.5 5.5 7 7m0-7-7 7", check: "m4 9.5 3.2 3.2L14 6", alert: "M9 3 1.8 15.5h14.4zM9 8v3.6m0 2v.1",
  minus: "M4.5 9h9", plus: "M4.5 9h9M9 4.5v9", more: "m5 7 4 4 4-4", dice: "M3.5 3.5h11v11h-11zM6.5 6.5v.1m5 4.9v.1M9 9v.1",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 18 18" width="18" height="18" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;
}

export function Button({ on, label, icon, pressed, disabled, children, class: name = "", title }) {
  return html`<button type="button" class=${`${icon && !children ? "icon-only " : ""}${name}`} onClick=${on} disabled=${disabled} aria-label=${label} title=${title || (icon && !children ? label : undefined)} aria-pressed=${pressed === undefined ? undefined : String(pressed)}>${icon ? html`<${Icon} name=${icon} />` : null}${children}</button>`;
}

// A step of which a hundred or so fill the range, and how many decimals it has.
export function step_of(low, high, is_whole) {
  if (is_whole) return [1, 0];
  const power = Math.floor(Math.log10((high - low) / 100));
  return Number.isFinite(power) ? [10 ** power, Math.max(0, -power)] : [0.01, 2];
}

export function Slider({ label, value, low, high, whole: is_whole, typical, marks = [], on }) {
  const [least, most] = high > low ? [low, high] : [low - 1, low + 1], [step, digits] = step_of(least, most, is_whole);
  const first = Math.floor(least / step) * step, last = Math.ceil(most / step) * step, unset = value === null;
  const at = unset ? typical ?? (least + most) / 2 : value, share = (x) => Math.min(Math.max((x - first) / (last - first), 0), 1);
  const set = (event) => on(Number(Number(event.currentTarget.value).toFixed(Math.min(digits, 20))));
  const keys = (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    on(null);
  };
  return html`<span class=${`slider${unset ? " unset" : ""}`} style=${`--at:${share(at)}`}>
    <input type="range" min=${first} max=${last} step=${step} value=${at} aria-label=${label} aria-valuetext=${unset ? say("unknown") : figures(value, 6)} onInput=${set} onPointerUp=${unset ? set : null} onKeyDown=${keys} />
    <span class="marks" aria-hidden="true">${marks.map((mark) => html`<i style=${`left:${100 * share(mark.at)}%;background:${colour(mark.k)}`} title=${mark.title}></i>`)}</span></span>`;
}

// A number as it fits into its field, which has all of it while it is changed.
const rounded = (value) => (String(value).length > 8 ? String(Number(value.toPrecision(value < 0 ? 4 : 5))) : String(value));

// The number that was typed: null for nothing, undefined where it is none.
function parsed(text, is_whole) {
  const plain = text.trim().replace("−", "-");
  if (plain === "") return null;
  const number = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  return Number.isFinite(number) && !(is_whole && number < 0) ? number : undefined;
}

export function NumberField({ label, value, placeholder, least_is_zero = false, on, size = 8 }) {
  const [draft, set] = useState(null);
  const own = value === null ? "" : rounded(value), read = draft === null ? value : parsed(draft, least_is_zero);
  const wrong = draft !== null && read === undefined, shown = draft !== null && (wrong || Object.is(read, value)) ? draft : own;
  const type = (event) => {
    const text = event.currentTarget.value, number = parsed(text, least_is_zero);
    set(text);
    if (number !== undefined) on(number);
  };
  return html`<input class="number" type="text" inputmode="decimal" autocomplete="off" spellcheck=${false} size=${size} aria-label=${label} placeholder=${placeholder} value=${shown} aria-invalid=${wrong ? "true" : undefined} title=${wrong ? say("This is no number, as 3.5 is.") : value === null || own === String(value) ? undefined : String(value)} onInput=${type} onFocus=${() => set(value === null ? "" : String(value))} onBlur=${() => set(null)} />`;
}

let names = 0;

export function useName(prefix) {
  return useMemo(() => `${prefix}-${(names += 1)}`, []);
}

export function Radios({ label, options, value, on, unknown }) {
  const name = useName("radio"), all = unknown ? [...options, { value: null, label: say("unknown") }] : options;
  return html`<span class="chips" role="radiogroup" aria-label=${label}>${all.map((option) => html`<label class=${`chip${option.value === null ? " unknown" : ""}${option.mark ? " marked" : ""}`} style=${option.mark} title=${option.title || (String(option.label).length > 24 ? shortened(option.label, 400) : undefined)}>
    <input type="radio" name=${name} checked=${Object.is(option.value, value)} onChange=${() => on(option.value)} /><span>${shortened(option.label, 80)}</span></label>`)}</span>`;
}

export function Choice({ label, options, value, on, children }) {
  const at = options.findIndex((option) => Object.is(option.value, value));
  return html`<label class="choice">${children}<select aria-label=${label} value=${at} onChange=${(event) => on(options[Number(event.currentTarget.value)].value)}>
    ${options.map((option, i) => html`<option value=${i} selected=${i === at}>${shortened(option.label, 60)}</option>`)}</select></label>`;
}

export function Combobox({ label, options, value, placeholder, on }) {
  const name = useName("list"), [draft, set] = useState(null), [active, move] = useState(-1), list = useRef(null);
  const open = draft !== null, known = options.find((option) => Object.is(option.value, value));
  const own = value === null ? "" : known ? known.label : String(value);
  const asked = open && draft !== own ? draft.trim().toLowerCase() : "";
  const found = useMemo(() => {
    if (!open) return [];
    const begins = options.filter((option) => option.label.toLowerCase().startsWith(asked));
    return asked === "" ? begins : [...begins, ...options.filter((option) => !option.label.toLowerCase().startsWith(asked) && option.label.toLowerCase().includes(asked))];
  }, [open, asked, options]);
  const shown = found.slice(0, LISTED), at = Math.min(active, shown.length - 1);
  const take = (picked) => {
    set(null);
    move(-1);
    on(picked);
  };
  const typed = () => {
    const text = draft.trim(), same = options.find((option) => option.label === text);
    take(text === "" ? null : same ? same.value : text);
  };
  const keys = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) set(own);
      else move(Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), shown.length - 1));
    } else if (event.key === "Enter" && open) {
      event.preventDefault();
      if (at >= 0) take(shown[at].value);
      else typed();
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      set(null);
      move(-1);
    }
  };
  useEffect(() => {
    const element = list.current && list.current.querySelector("[aria-selected=true]");
    if (element) element.scrollIntoView({ block: "nearest" });
  }, [at]);
  return html`<span class="combobox"><input type="text" role="combobox" autocomplete="off" spellcheck=${false} aria-label=${label} aria-expanded=${String(open)} aria-autocomplete="list" aria-controls=${name} aria-activedescendant=${at >= 0 ? `${name}-${at}` : undefined} placeholder=${placeholder} value=${open ? draft : own}
      onInput=${(event) => { set(event.currentTarget.value); move(-1); }} onClick=${() => open || set(own)} onKeyDown=${keys} onBlur=${() => open && (draft === own ? take(value) : typed())} />
    <ul id=${name} role="listbox" aria-label=${label} hidden=${!open} ref=${list} onMouseDown=${(event) => event.preventDefault()}>
      ${shown.map((option, i) => html`<li id=${`${name}-${i}`} role="option" aria-selected=${String(i === at)} onClick=${() => take(option.value)}>${shortened(option.label, 120)}</li>`)}
      ${open && found.length > shown.length ? html`<li class="rest" role="option" aria-disabled="true" aria-selected="false">${say("and {n} more: type to find them", { n: found.length - shown.length })}</li>` : null}
      ${open && !found.length ? html`<li class="rest" role="option" aria-disabled="true" aria-selected="false">${say("none begins so; Enter takes it as it is")}</li>` : null}</ul></span>`;
}

export function Stepper({ label, value, on }) {
  const n = value ?? 0;
  return html`<span class="stepper" role="group" aria-label=${label}>
    <${Button} icon="minus" label=${say("one less")} disabled=${n <= 0} on=${() => on(Math.max(0, n - 1) || null)} />
    <${NumberField} label=${label} value=${value} placeholder="0" least_is_zero=${true} size=4 on=${on} />
    <${Button} icon="plus" label=${say("one more")} on=${() => on(n + 1)} /></span>`;
}

// Words in the colour of the class that they speak for, the stronger the deeper, beneath the text that is typed.
export function TextField({ label, value, pieces, pair, placeholder, on }) {
  const behind = useRef(null), before = useRef(null), most = pieces.reduce((all, [, each]) => (each === null ? all : Math.max(all, Math.abs(each))), 0);
  const scroll = () => {
    behind.current.scrollTop = before.current.scrollTop;
  };
  useLayoutEffect(scroll, [pieces]); // which follow the text, and may reach further down than before
  return html`<span class="text-field"><span class="behind" aria-hidden="true" ref=${behind}>${highlighted(pieces, most, pair)}${"\n"}</span>
    <textarea ref=${before} aria-label=${label} placeholder=${placeholder} spellcheck=${false} value=${value ?? ""} onInput=${(event) => on(event.currentTarget.value === "" ? null : event.currentTarget.value)} onScroll=${scroll}></textarea></span>`;
}

// Neighbours that say nothing are one piece of plain text, so that long texts have few elements.
export function highlighted(pieces, most, pair) {
  const found = [];
  let plain = "";
  for (const [text, each] of pieces) {
    const strength = each === null || most === 0 ? 0 : Math.abs(each) / most;
    if (strength < 0.04) {
      plain += text;
      continue;
    }
    if (plain) found.push(plain);
    plain = "";
    found.push(html`<mark style=${`--c:${colour(each < 0 ? pair[1] : pair[0])};--s:${Math.round(10 + 45 * Math.sqrt(strength))}%`}>${text}</mark>`);
  }
  return plain ? [...found, plain] : found;
}

export function Notice({ kind = "warning", children }) {
  return html`<p class=${kind} role=${kind === "warning" ? "alert" : null}>${children}</p>`;
}

