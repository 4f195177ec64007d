// The network: a box for each node with a bar for each state. Click a bar, and it is evidence; shift-click, and the node is
// set to it, whatever would have made it so; drag a bar, and it is soft evidence. All bars follow.
//
// What is asked stands in the question: evidence as the values of columns, and three keys more for each node that need them:
// "given:NODE" is the state of a node that is no column, "do:NODE" the state that it is set to, "soft:NODE" a likelihood for
// each state, as text: "1 0.25".
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.mjs";
import { code_of, posteriors } from "../networks.mjs";
import { say } from "../language.mjs";

// As networks/sheet.py has them, by which the boxes are laid out.
const HEADER = 27, LINE = 20, BAR = 62, FIGURES = 46, VISIBLE = 10, HEAD = 9, MARGIN = 18;
const LEAST_ZOOM = 0.25, MOST_ZOOM = 2, READABLE = 0.66, READABLE_ON_A_PHONE = 0.95, PHONE = 640;
const GIVEN = "given:", DO = "do:", SOFT = "soft:";
const DRAGGED = 4; // pixels, from which on a press is no click
const STEP = 0.05; // of soft evidence by the keyboard
const PAPER_WIDTH = 690; // pixels of a printed page

// The keys of a question that only the network reads, as columns: so the address can have them.
export function question_columns({ network }) {
  if (!network) return [];
  return network.nodes.flatMap(({ name, column, states }) => [
    ...(column === null ? [{ name: GIVEN + name, kind: "category", values: states }] : []),
    { name: DO + name, kind: "category", values: states },
    { name: SOFT + name, kind: "text" },
  ]);
}

// What a question says of each node.

function cell_of(node, value) {
  if (value === null || value === undefined || value === "" || Number.isNaN(value)) return null;
  return node.cuts === null ? value : Number(value);
}

// {evidence: the state of each node or -1, interventions, soft, strange: the nodes whose value is no state}.
export function read_question(network, row) {
  const found = { evidence: network.nodes.map(() => -1), interventions: [], soft: [], strange: [] };
  network.nodes.forEach((node, v) => {
    const set = node.states.indexOf(row[DO + node.name] ?? null), weights = String(row[SOFT + node.name] ?? "").trim().split(/\s+/).map(Number);
    if (set >= 0) found.interventions.push([v, set]);
    if (weights.length === node.states.length && weights.every((each) => Number.isFinite(each) && each >= 0) && weights.some((each) => each > 0) && row[SOFT + node.name])
      found.soft.push([v, weights]);
    if (node.column === null) {
      found.evidence[v] = node.states.indexOf(row[GIVEN + node.name] ?? null);
      return;
    }
    const value = cell_of(node, row[node.column]);
    found.evidence[v] = value === null ? -1 : code_of(node, network.match, value);
    if (value !== null && found.evidence[v] < 0) found.strange.push(v);
  });
  return found;
}

// A number of an interval, short, and near its middle.
export function number_within(points, k, column) {
  const { low = points[0] - 1, high = points[points.length - 1] + 1, whole = false } = column;
  const span = points.length > 1 ? (points[points.length - 1] - points[0]) / (points.length - 1) : Math.max(high - low, 1) / 2;
  if (!points.length) return Number(((low + high) / 2).toPrecision(3));
  const bottom = k ? points[k - 1] : Math.min(low, points[0] - span), top = k < points.length ? points[k] : Math.max(high, points[k - 1] + span);
  const middle = (bottom + top) / 2, near = (x) => x > bottom && x <= top;
  if (whole && near(Math.floor(top))) return near(Math.round(middle)) ? Math.round(middle) : Math.floor(top);
  for (let digits = 1; digits < 17; digits++) {
    const x = Number(middle.toPrecision(digits));
    if (near(x) && Math.abs(x - middle) <= (top - bottom) / 4) return x;
  }
  return top;
}

// The question without what it says of a node.
function without(row, node) {
  const found = { ...row };
  for (const key of [GIVEN + node.name, DO + node.name, SOFT + node.name, ...(node.column === null ? [] : [node.column])]) delete found[key];
  return found;
}

// The likelihoods by which a state gets a share, by what is believed of the node without them; null where it cannot have it.
export function soft_for(beliefs, weights, state, share) {
  const wanted = Math.min(Math.max(share, 0.001), 0.999);
  const others = beliefs.reduce((sum, p, at) => (at === state ? sum : sum + p * weights[at]), 0);
  if (!(beliefs[state] > 0) || !(others > 0)) return null;
  const found = weights.map((each, at) => (at === state ? ((wanted / (1 - wanted)) * others) / beliefs[state] : each));
  const largest = Math.max(...found);
  return found.map((each) => Number((each / largest).toPrecision(4)));
}

// A node in a state, as a person writes it.
function equation({ name, names, cuts }, k) {
  if (cuts === null || !cuts.length) return `${name} = ${names[k]}`;
  return `${name} ${/^[≤>]/.test(names[k]) ? "" : "∈ "}${names[k]}`;
}

function percent(share) {
  if (share <= 0) return "0%";
  if (share >= 1) return "100%";
  if (share < 0.0005) return "<0.1%";
  return share > 0.9995 ? ">99.9%" : `${(100 * share).toFixed(1)}%`;
}

function readable(x, log) {
  if (x === 0 && log > -Infinity) return `10^${(log / Math.LN10).toFixed(1)}`;
  if (x === 0 || x >= 0.001) return String(Number(Math.min(x, 1).toPrecision(4)));
  const [digits, exponent] = x.toExponential(2).split("e");
  return `${digits} · 10${exponent.replace("+", "").replace(/[-0-9]/g, (each) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(each)])}`;
}

// Beliefs: here, or where the network is too wide for that, asked of the server.
function useBeliefs(app, network, question) {
  const key = JSON.stringify([question.evidence, question.interventions, question.soft]);
  const here = useMemo(() => posteriors(network, question.evidence, question), [network, key]);
  const before = useMemo(() => posteriors(network, network.nodes.map(() => -1)), [network]);
  const [asked, set_asked] = useState({ key: null });
  const far = here.too_wide !== undefined && app.server !== null && app.server !== undefined;
  useEffect(() => {
    if (!far) return undefined;
    let current = true;
    const named = (v, k) => network.nodes[v].names[k], evidence = {}, done = {};
    question.evidence.forEach((k, v) => k >= 0 && (evidence[network.nodes[v].name] = named(v, k)));
    question.soft.forEach(([v, weights]) => (evidence[network.nodes[v].name] = Object.fromEntries(weights.map((each, k) => [named(v, k), each]))));
    question.interventions.forEach(([v, k]) => (done[network.nodes[v].name] = named(v, k)));
    app.server.post("/v1/network", { evidence, do: done }).then(
      (found) => {
        const marginals = network.nodes.map((node) => found.beliefs[node.name]);
        if (current) set_asked((old) => ({ key, marginals, first: old.first || (key === empty_key(network) ? marginals : null), probability: found.probability, log_probability: Number(found.log_probability) }));
      },
      (failure) => current && set_asked((old) => ({ ...old, key, failure: failure.message || String(failure) })),
    );
    return () => (current = false);
  }, [far, key]);
  if (!far) return { ...here, before: before.marginals, waiting: false };
  return { marginals: null, probability: null, ...asked, impossible: false, before: asked.first, waiting: asked.key !== key, far };
}

const empty_key = (network) => JSON.stringify([network.nodes.map(() => -1), [], []]);

// The picture.

function path_of(route) {
  const [x, y, ...rest] = route;
  const curves = [];
  for (let i = 0; i < rest.length; i += 6) curves.push(`C${rest.slice(i, i + 6).join(" ")}`);
  return `M${x} ${y}${curves.join("")}`;
}

function Arcs({ network, cut, near }) {
  const { layout, nodes } = network, most = Math.max(...layout.arcs.map((arc) => arc.bits || 0), 0);
  return html`<svg class="net-arcs" width=${layout.width} height=${layout.height} aria-hidden="true">
    ${layout.arcs.map(({ ends: [up, down], bits, route }) => {
      const wide = bits === null || most === 0 ? 1.4 : 1 + 3.4 * (bits / most), half = 3 + 0.75 * wide;
      const x = route[route.length - 2], y = route[route.length - 1], is_cut = cut.has(down);
      const kind = `net-arc${is_cut ? " net-cut" : ""}${near === up || near === down ? " net-near" : ""}`;
      return html`<g class=${kind} key=${`${up} ${down}`}>
        <title>${`${nodes[up].name} → ${nodes[down].name}${bits === null ? "" : `, ${say("{n} bits", { n: bits.toPrecision(3) })}`}`}</title>
        <path d=${path_of(route)} stroke-width=${wide} />
        <polygon points=${`${x - half},${y} ${x + half},${y} ${x},${y + HEAD}`} />
        ${is_cut ? html`<path class="net-gash" d=${`M${x - 7} ${y - 5}l14 -6M${x - 7} ${y - 10}l14 -6`} />` : null}
      </g>`;
    })}
  </svg>`;
}

function Box({ app, network, v, state, shares, before, act, focus, hover }) {
  const node = network.nodes[v], [w, h] = network.layout.sizes[v], [x, y] = network.layout.centres[v];
  const is_target = v === network.target, { kind, place, weights, strange } = state;
  const title = { seen: say("observed"), set: say("set: the arcs into it are cut"), soft: say("soft evidence") }[kind];
  const up = network.parents[v].map((each) => network.nodes[each].name);
  const states = useRef(null);
  useLayoutEffect(() => {
    const own = states.current, from = place * LINE;
    if (place >= 0 && node.names.length > VISIBLE && (from < own.scrollTop || from + LINE > own.scrollTop + own.clientHeight)) own.scrollTop = from - own.clientHeight / 2;
  }, [place]);
  const label = [node.name, up.length ? say("given {parents}", { parents: up.join(", ") }) : null, title].filter(Boolean).join(", ");
  return html`<div class=${`net-box net-${kind || "free"}${is_target ? " net-target" : ""}`} role="group" aria-label=${label} style=${`left:${x - w / 2}px;top:${y - h / 2}px;width:${w}px;height:${h}px`}
      onPointerEnter=${() => hover(v)} onPointerLeave=${() => hover(-1)}>
    <div class="net-name" title=${node.name}><span>${node.name}</span>${title ? html`<b class="net-badge" title=${title}>${{ seen: "●", set: "do", soft: "~" }[kind]}</b>` : strange ? html`<b class="net-badge" title=${say("a value that was never seen: it says nothing")}>?</b>` : null}</div>
    <div class="net-states" ref=${states}>${node.names.map((name, k) => {
      const share = shares ? shares[k] : 0, former = before && before[k], chosen = k === place;
      const said = [`${name}: ${shares ? percent(share) : say("not known")}`, chosen ? title : null, weights ? say("likelihood {n}", { n: weights[k] }) : null].filter(Boolean).join(", ");
      return html`<button type="button" key=${k} id=${`net-${v}-${k}`} class=${`net-state${chosen ? " net-chosen" : ""}`} aria-pressed=${chosen ? "true" : "false"} aria-label=${said} tabindex=${focus[0] === v && focus[1] === k ? 0 : -1}
          title=${former === null || former === undefined || former === share ? said : `${said} (${say("before: {p}", { p: percent(former) })})`}
          disabled=${!shares} onClick=${(event) => act.click(event, v, k)} onFocus=${() => act.focus(v, k)} onKeyDown=${(event) => act.key(event, v, k)}>
        <span class="net-label">${name}</span>
        <span class="net-track" onPointerDown=${(event) => act.press(event, v, k)}><i class="net-bar" style=${`transform:scaleX(${share});${is_target && app.classes_are(v) ? `--bar:${app.colour(k)}` : ""}`}></i>
          ${former === null || former === undefined ? null : html`<i class="net-before" style=${`left:${100 * former}%`}></i>`}</span>
        <span class="net-figure">${shares ? percent(share) : "–"}</span>
      </button>`;
    })}</div>
  </div>`;
}

// The nearest box in a direction, by the centres; -1 where there is none.
function neighbour(network, v, across, down) {
  const [x, y] = network.layout.centres[v];
  let best = -1, least = Infinity;
  network.layout.centres.forEach(([cx, cy], u) => {
    const along = across ? (cx - x) * across : (cy - y) * down, beside = across ? Math.abs(cy - y) : Math.abs(cx - x);
    const cost = along + 2.5 * beside;
    if (u !== v && along > 1 && cost < least) [best, least] = [u, cost];
  });
  return best;
}

function Chips({ app, network, question, retract }) {
  const name = (v, k) => network.nodes[v].names[k], is = (v, k) => equation(network.nodes[v], k);
  const set = new Map(question.interventions), chips = [];
  question.evidence.forEach((k, v) => k >= 0 && !set.has(v) && chips.push([v, is(v, k), "seen"]));
  question.interventions.forEach(([v, k]) => chips.push([v, `do(${is(v, k)})`, "set"]));
  question.soft.forEach(([v, weights]) => chips.push([v, `${network.nodes[v].name} ~ ${weights.map((each, k) => `${name(v, k)} ${each}`).join(", ")}`, "soft"]));
  question.strange.forEach((v) => chips.push([v, say("{node}: a value that was never seen", { node: network.nodes[v].name }), "strange"]));
  if (!chips.length) return html`<span>${say("Nothing is known yet.")}</span>`;
  return chips.map(([v, text, kind]) => html`<button type="button" key=${`${v} ${kind}`} class=${`net-chip net-chip-${kind}`} title=${say("take it back")} aria-label=${say("{what}: take it back", { what: text })} onClick=${() => retract(v)}><span>${text}</span><b aria-hidden="true">×</b></button>`);
}

function Numbers({ app, network, shares, before }) {
  const [open, set_open] = useState(false); // what nobody sees need not be kept up to date
  return html`<details class="quiet" onToggle=${(event) => set_open(event.currentTarget.open)}><summary>${say("The numbers")}</summary>${open ? html`<div class="scroll" tabindex="0" role="region" aria-label=${say("probabilities of all nodes")}><table class="sheet">
    <thead><tr><th scope="col">${say("node")}</th><th scope="col">${say("state")}</th><th scope="col" class="n">${say("probability")}</th><th scope="col" class="n">${say("without evidence")}</th></tr></thead>
    <tbody>${network.nodes.map((node, v) => node.names.map((name, k) => html`<tr><th scope="row">${k ? "" : node.name}</th><td>${name}</td><td class="n">${shares ? shares[v][k].toPrecision(6) : "–"}</td><td class="n">${before ? before[v][k].toPrecision(6) : "–"}</td></tr>`))}</tbody>
  </table></div>` : null}</details>`;
}

function NetworkView({ app }) {
  const { network } = app.sheet, { layout } = network;
  const question = useMemo(() => read_question(network, app.row), [network, app.row]);
  const found = useBeliefs(app, network, question);
  const [mode, set_mode] = useState("observe"), [zoom, set_zoom] = useState(null), [near, set_near] = useState(-1), [focus, set_focus] = useState([0, 0]);
  const port = useRef(null), drag = useRef(null), held = useRef(null), pinch = useRef(new Map()), quiet = useRef(false), latest = useRef(null);
  latest.current = { question, row: app.row, ask: app.ask };
  const shares = found.marginals, set_to = new Map(question.interventions), soft = new Map(question.soft);
  const knows = question.evidence.some((k) => k >= 0) || set_to.size > 0 || soft.size > 0;
  const size = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN];
  const fit = () => (port.current ? Math.min(1, port.current.clientWidth / size[0]) : 1);
  const scale = zoom === null ? 1 : zoom;
  useLayoutEffect(() => {
    if (zoom !== null || !port.current || !port.current.clientWidth) return;
    const first = Math.max(fit(), port.current.clientWidth < PHONE ? READABLE_ON_A_PHONE : READABLE);
    set_zoom(first);
    port.current.scrollLeft = (size[0] * first - port.current.clientWidth) / 2;
  });

  const state_of = (v) => {
    const strange = question.strange.includes(v);
    if (set_to.has(v)) return { kind: "set", place: set_to.get(v), weights: null, strange };
    if (question.evidence[v] >= 0) return { kind: "seen", place: question.evidence[v], weights: null, strange };
    return soft.has(v) ? { kind: "soft", place: -1, weights: soft.get(v), strange } : { kind: null, place: -1, weights: null, strange };
  };
  const ask = (row, replace = false) => latest.current.ask(row, { replace });
  const observe = (v, k) => {
    const node = network.nodes[v], row = without(app.row, node), { kind, place } = state_of(v);
    if (!(kind === "seen" && place === k)) {
      if (node.column === null) row[GIVEN + node.name] = node.states[k];
      else row[node.column] = node.cuts === null ? node.states[k] : number_within(node.cuts, k, app.model.columns.find((column) => column.name === node.column) || {});
    }
    ask(row);
  };
  const intervene = (v, k) => {
    const node = network.nodes[v], row = without(app.row, node), { kind, place } = state_of(v);
    if (!(kind === "set" && place === k)) row[DO + node.name] = node.states[k];
    ask(row);
  };
  const retract = (v) => ask(without(app.row, network.nodes[v]));
  const reset = () => ask(network.nodes.reduce(without, app.row));

  // Soft evidence: what is believed without it, and its likelihoods, are those of when it begins.
  const begin_soft = (v) => {
    const { question: own, row } = latest.current, weights = new Map(own.soft).get(v) || network.nodes[v].names.map(() => 1);
    const clean = { ...own, evidence: own.evidence.map((k, u) => (u === v ? -1 : k)), soft: own.soft.filter(([u]) => u !== v), interventions: own.interventions.filter(([u]) => u !== v) };
    const rest = posteriors(network, clean.evidence, clean);
    const beliefs = rest.marginals ? rest.marginals[v] : null;
    return beliefs && { v, beliefs, weights: weights.slice(), row: without(row, network.nodes[v]) };
  };
  const soften = ({ v, beliefs, weights, row }, k, share, replace) => {
    const own = soft_for(Array.from(beliefs), Array.from(weights), k, share);
    if (own) ask({ ...row, [SOFT + network.nodes[v].name]: own.join(" ") }, replace);
  };

  const act = {
    focus: (v, k) => (focus[0] === v && focus[1] === k ? null : set_focus([v, k])),
    click(event, v, k) {
      if (quiet.current) {
        quiet.current = false;
        return;
      }
      (event.shiftKey || mode === "intervene" ? intervene : observe)(v, k);
    },
    press(event, v, k) {
      if (event.button !== 0 || event.shiftKey || found.far || !shares) return;
      const track = event.currentTarget.getBoundingClientRect();
      held.current = { x: event.clientX, track, v, k, begun: null, pointer: event.pointerId, element: event.currentTarget };
      quiet.current = false;
    },
    key(event, v, k) {
      const states = network.nodes[v].states.length;
      const go = (u, s) => {
        if (u < 0) return;
        event.preventDefault();
        const at = [u, Math.min(Math.max(s, 0), network.nodes[u].states.length - 1)];
        set_focus(at);
        const button = document.getElementById(`net-${at[0]}-${at[1]}`);
        if (button) button.focus();
      };
      const firmer = (by) => {
        const begun = begin_soft(v);
        event.preventDefault();
        if (begun && !found.far && shares) soften(begun, k, shares[v][k] + by, false);
      };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "ArrowRight" && event.shiftKey) firmer(STEP);
      else if (event.key === "ArrowLeft" && event.shiftKey) firmer(-STEP);
      else if (event.key === "ArrowDown") k + 1 < states ? go(v, k + 1) : go(neighbour(network, v, 0, 1), 0);
      else if (event.key === "ArrowUp") k > 0 ? go(v, k - 1) : go(neighbour(network, v, 0, -1), Infinity);
      else if (event.key === "ArrowRight") go(neighbour(network, v, 1, 0), k);
      else if (event.key === "ArrowLeft") go(neighbour(network, v, -1, 0), k);
      else if (event.key === "Home") go(0, 0);
      else if (event.key === "End") go(network.nodes.length - 1, 0);
      else if (event.key === "d" || event.key === "D") { event.preventDefault(); intervene(v, k); }
      else if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); retract(v); }
    },
  };

  // The zoom, about a point of the window.
  const centre_of = () => {
    const { left, top, width, height } = port.current.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  };
  const aim = useRef(null);
  const zoom_to = (wanted, [x, y] = centre_of()) => {
    const next = Math.min(Math.max(wanted, LEAST_ZOOM), MOST_ZOOM), { left, top } = port.current.getBoundingClientRect();
    aim.current = [(port.current.scrollLeft + x - left) / scale, (port.current.scrollTop + y - top) / scale, x - left, y - top];
    set_zoom(next);
  };
  useLayoutEffect(() => {
    if (!aim.current) return;
    const [wx, wy, x, y] = aim.current;
    aim.current = null;
    port.current.scrollLeft = wx * scale - x;
    port.current.scrollTop = wy * scale - y;
  }, [scale]);
  const zoomer = useRef(null);
  zoomer.current = (factor, at) => zoom_to(scale * factor, at);
  useEffect(() => {
    const wheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // without it the wheel scrolls
      event.preventDefault();
      zoomer.current(Math.exp(-event.deltaY / 300), [event.clientX, event.clientY]);
    };
    const own = port.current;
    own.addEventListener("wheel", wheel, { passive: false });
    return () => own.removeEventListener("wheel", wheel);
  }, []);
  const down = (event) => {
    pinch.current.set(event.pointerId, [event.clientX, event.clientY]);
    if (event.pointerType === "mouse" && event.button === 0 && !event.target.closest(".net-box"))
      drag.current = { x: event.clientX, y: event.clientY, left: port.current.scrollLeft, top: port.current.scrollTop };
  };
  const move = (event) => {
    const press = held.current;
    if (press && press.pointer === event.pointerId) {
      if (!press.begun && Math.abs(event.clientX - press.x) < DRAGGED) return;
      const first = !press.begun;
      if (first) {
        press.begun = begin_soft(press.v);
        if (!press.begun) return void (held.current = null);
        if (press.element.setPointerCapture) press.element.setPointerCapture(event.pointerId);
      }
      quiet.current = true;
      soften(press.begun, press.k, (event.clientX - press.track.left) / press.track.width, !first);
      return;
    }
    if (pinch.current.has(event.pointerId) && pinch.current.size === 2) {
      const [other] = [...pinch.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at), was = pinch.current.get(event.pointerId);
      const apart = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]), now = [event.clientX, event.clientY];
      pinch.current.set(event.pointerId, now);
      if (apart(was) > 0) zoomer.current(apart(now) / apart(was), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    } else if (drag.current) {
      port.current.scrollLeft = drag.current.left - (event.clientX - drag.current.x);
      port.current.scrollTop = drag.current.top - (event.clientY - drag.current.y);
    }
  };
  const up = (event) => {
    pinch.current.delete(event.pointerId);
    drag.current = null;
    if (held.current && held.current.pointer === event.pointerId) {
      held.current = null;
      if (quiet.current) setTimeout(() => (quiet.current = false), 0); // a click follows, or none
    }
  };

  const probability = found.impossible ? 0 : found.probability;
  const [said, set_said] = useState("");
  useEffect(() => {
    const later = setTimeout(() => set_said(found.impossible ? say("impossible evidence") : probability === null || probability === undefined ? "" : say("probability of the evidence: {p}", { p: readable(probability, found.log_probability) })), 600);
    return () => clearTimeout(later);
  }, [probability, found.impossible]);
  const cuts = question.interventions.map(([v]) => v).join(" ");
  const arcs = useMemo(() => html`<${Arcs} network=${network} cut=${new Set(set_to.keys())} near=${near} />`, [network, cuts, near]);
  const boxed = { ...app, classes_are: (v) => v === network.target && app.model.classes.length === network.nodes[v].states.length };
  const blocked = found.too_wide !== undefined && !found.far;
  return html`<div class="net"><style>${STYLE}</style>
    ${network.note ? html`<p class="how">${network.note === "levels" ? say("The model weighs shorter and longer contexts; this is the network of its longest ones, and what it says of the class can differ from the answer.") : say("This is the network of the longest contexts; where a value is missing, what it says of the class can differ from the answer.")}</p>` : null}
    <div class="net-head">
      <p class="net-probability"><span>P(${say("evidence")})</span> <output>${blocked ? "–" : found.impossible ? "0" : probability === null || probability === undefined ? "…" : readable(probability, found.log_probability)}</output></p>
      <div class="net-known" role="group" aria-label=${say("what is known")}><${Chips} app=${app} network=${network} question=${question} retract=${retract} /></div>
      <div class="net-tools" role="toolbar" aria-label=${say("network")}>
        <span class="net-choice" role="group" aria-label=${say("a click")}>
          <button type="button" aria-pressed=${mode === "observe" ? "true" : "false"} onClick=${() => set_mode("observe")}>${say("Observe")}</button>
          <button type="button" aria-pressed=${mode === "intervene" ? "true" : "false"} title=${say("a click sets the node, and cuts the arcs into it")} onClick=${() => set_mode("intervene")}>${say("Intervene")}</button></span>
        <span class="net-choice" role="group" aria-label=${say("zoom")}>
          <button type="button" aria-label=${say("smaller")} onClick=${() => zoom_to(scale / 1.25)}>−</button>
          <button type="button" class="net-zoom" title=${say("actual size")} aria-label=${say("zoom {n}%: actual size", { n: Math.round(100 * scale) })} onClick=${() => zoom_to(1)}>${Math.round(100 * scale)}%</button>
          <button type="button" aria-label=${say("larger")} onClick=${() => zoom_to(scale * 1.25)}>+</button>
          <button type="button" onClick=${() => zoom_to(fit())}>${say("Fit")}</button></span>
        <button type="button" disabled=${!knows && !question.strange.length} onClick=${reset}>${say("Reset")}</button>
      </div>
    </div>
    ${blocked ? html`<p class="warning">${say("This network is too wide to be asked in a page: its tables would have {n} cells together, and {most} are the most. Open the model with ingenuo open, which asks Python.", { n: found.too_wide.toLocaleString("en"), most: "200,000" })}</p>` : null}
    ${found.failure ? html`<p class="warning">${found.failure}</p>` : null}
    ${found.impossible ? html`<p class="warning" role="alert">${say("What is given is impossible under the tables: take some of it back.")}</p>` : null}
    <div class=${`net-port${found.waiting ? " net-waiting" : ""}`} ref=${port} role="group" aria-label=${say("network {name}: {n} nodes, {m} arcs", { name: network.name, n: network.nodes.length, m: layout.arcs.length })}
        onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${up} onPointerLeave=${(event) => held.current || up(event)}>
      <div class="net-space" style=${`width:${size[0] * scale}px;height:${size[1] * scale}px;--print:${Math.min(1, PAPER_WIDTH / size[0])};--wide:${size[0]}px;--high:${size[1]}px`}>
        <div class="net-world" style=${`width:${layout.width}px;height:${layout.height}px;transform:scale(${scale}) translate(${MARGIN}px,${MARGIN}px)`}>
          ${arcs}
          ${network.nodes.map((node, v) => html`<${Box} key=${v} app=${boxed} network=${network} v=${v} state=${state_of(v)} shares=${shares && shares[v]} before=${knows && found.before && !set_to.has(v) ? found.before[v] : null} act=${act} focus=${focus} hover=${set_near} />`)}
        </div>
      </div>
    </div>
    <p class="how net-hint">${say("Click a bar: it is observed; again: taken back. Shift-click, or d: the node is set, and the arcs into it are cut. Drag a bar (Shift and arrows): soft evidence. A stroke marks what was believed before. Ctrl and the wheel: zoom.")}</p>
    <${Numbers} app=${app} network=${network} shares=${shares} before=${found.before} />
    <p class="hidden" role="status" aria-live="polite">${said}</p>
  </div>`;
}

export const view = {
  id: "network",
  title: "Network",
  missing(app) {
    const { network } = app.sheet;
    if (!network) return app.say("This model is no single network: learn one with NetworkClassifier, or take Network itself.");
    return network.layout === null ? app.say("The network has {n} nodes, too many to be drawn.", { n: network.nodes.length }) : null;
  },
  component: NetworkView,
};

const STYLE = `
.net-head{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;margin:.5rem 0 .75rem}
.net-probability{margin:0;white-space:nowrap;color:var(--soft)}
.net-probability output{display:inline-block;min-width:3.6em;margin-left:.3em;font-size:1.3rem;color:var(--ink);font-variant-numeric:tabular-nums}
.net-known{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center;flex:1 1 12rem;min-width:0;color:var(--soft)}
.net .net-chip{color:var(--ink);min-height:1.8rem;padding:.1rem .7rem;border-radius:1rem;max-width:100%;font-size:.9rem;background:var(--shade)}
.net-chip span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:20rem}.net-chip b{color:var(--soft);font-weight:400}
.net .net-chip-set{border:1px dashed var(--ink)}
.net-tools{display:flex;flex-wrap:wrap;gap:.5rem}.net-tools button{font-size:.9rem}
.net-choice{display:inline-flex}.net-choice button{border-radius:0;margin-left:-1px}
.net-choice button:first-child{border-radius:.4rem 0 0 .4rem;margin-left:0}.net-choice button:last-child{border-radius:0 .4rem .4rem 0}
.net-choice button[aria-pressed=true]{background:var(--ink);border-color:var(--ink);color:var(--paper)}
.net-zoom{width:3.9rem;justify-content:center;font-variant-numeric:tabular-nums}
.net-port{overflow:auto;max-height:min(78vh,60rem);border:1px solid var(--line);border-radius:var(--radius,.6rem);touch-action:pan-x pan-y;cursor:grab;overscroll-behavior:contain auto}
.net-port:active{cursor:grabbing}.net-waiting .net-bar{opacity:.5}
.net-space{position:relative;margin:0 auto;overflow:hidden}
.net-world{position:absolute;left:0;top:0;transform-origin:0 0}
.net-arcs{position:absolute;left:0;top:0;overflow:visible}
.net-arc path{fill:none;stroke:var(--soft);opacity:.62}.net-arc polygon{fill:var(--soft);opacity:.8}
.net-near path{stroke:var(--ink);opacity:1}.net-near polygon{fill:var(--ink);opacity:1}
.net-cut path{stroke-dasharray:3 5;opacity:.4}.net-cut polygon{opacity:.25}
.net-cut .net-gash{stroke:var(--red);stroke-width:2.2;stroke-dasharray:none;opacity:1}
.net-box{position:absolute;background:var(--paper);border:1px solid var(--edge);border-radius:6px;font-size:12px;line-height:${LINE}px;cursor:default;overflow:hidden}
.net-name{display:flex;align-items:center;justify-content:center;gap:.4em;height:${HEADER - 1}px;padding:0 9px;background:var(--shade);border-bottom:1px solid var(--line);font-size:13px;font-weight:600}
.net-name span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.net-badge{flex:none;min-width:1.5em;padding:0 .35em;border-radius:.75em;background:var(--ink);color:var(--paper);font-size:10px;line-height:1.5em;text-align:center}
.net-states{height:calc(100% - ${HEADER - 1}px);padding:3px 0;overflow:hidden auto;scrollbar-width:thin}
.net .net-state{display:grid;grid-template-columns:minmax(0,1fr) ${BAR}px ${FIGURES}px;gap:0 7px;align-items:center;width:100%;height:${LINE}px;min-height:0;padding:0 9px;border:0;border-radius:3px;background:none;color:var(--ink);text-align:left}
.net .net-state:hover:not(:disabled){background:var(--shade)}.net .net-state:disabled{color:var(--soft)}
.net-state:focus-visible{outline:2px solid var(--link);outline-offset:-2px}
.net-label{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.net-figure{text-align:right;font-variant-numeric:tabular-nums}.net-chosen .net-figure{font-weight:600}
.net-track{position:relative;height:11px;border-radius:2px;background:color-mix(in srgb,var(--soft) 16%,transparent);touch-action:pan-y;cursor:ew-resize}
.net-bar{position:absolute;inset:0;border-radius:2px;background:var(--bar,var(--blue));transform-origin:0 0;transition:transform .28s cubic-bezier(.3,.1,.2,1)}
.net-before{position:absolute;top:-2px;bottom:-2px;width:2px;margin-left:-1px;background:var(--ink);box-shadow:0 0 0 1px var(--paper)}
.net-target{border-width:2px}
.net-seen,.net-set{background:var(--shade);border-color:var(--ink)}.net-seen .net-name,.net-set .net-name{background:color-mix(in srgb,var(--ink) 14%,var(--paper))}
.net-set{border-style:dashed;border-width:2px}.net-soft{border-color:var(--ink);border-style:dotted}
.net-seen .net-bar,.net-set .net-bar{background:var(--ink)}
.net-hint{max-width:none}
@media (prefers-reduced-motion:reduce){.net-bar{transition:none}}
@media print{.net-tools,.net-hint,.net-chip b,.net details{display:none}.net .net-state{display:grid!important}.net .net-chip{display:inline-flex!important}
.net-port{overflow:visible;max-height:none;border:0}.net-space{width:calc(var(--wide)*var(--print))!important;height:calc(var(--high)*var(--print))!important;overflow:visible;break-inside:avoid}
.net-world{transform:scale(var(--print)) translate(${MARGIN}px,${MARGIN}px)!important}.net-box *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`;
