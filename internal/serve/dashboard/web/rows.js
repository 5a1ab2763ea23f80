// Rows: the joints beside the 3D view, a line each. On a phone one joint is shown at a time.
import { el, put, show, split, text } from "./dom.js";
import { emit, on, rig } from "./link.js";
import { begin, getShare, handle, end } from "./jog.js";
import { marks, mode, read, says, share } from "./joints.js";
import { force, tell, way } from "./units.js";

// The picked joint, by names: it stays when the page is left and when the layout changes.
let picked = { agent: "", joint: "" };
export const chosen = () => {
  const a = rig.layout?.agents.findIndex((g) => g.name === picked.agent) ?? -1;
  return [a, a < 0 ? -1 : rig.layout.agents[a].joints.findIndex((j) => j.name === picked.joint)];
};
export function pick(a, i) {
  picked = { agent: rig.layout.agents[a]?.name ?? "", joint: rig.layout.agents[a]?.joints[i]?.name ?? "" };
  emit("pick");
}

// toward moves a joint to a place in its limits while it is held; near it, it slows down.
export function toward(a, i, goal, by) {
  const j = rig.layout.agents[a].joints[i];
  begin(a, i, () => {
    let off = goal - read(a, i).position;
    if (j.wraps) off = Math.atan2(Math.sin(off), Math.cos(off));
    const v = 4 * off / Math.max(1e-6, getShare() * j.max_velocity);
    return Math.abs(off) < 0.002 || !Number.isFinite(v) ? 0 : Math.max(-1, Math.min(1, v));
  }, by);
}

// cause is a fault in few words: the joint's name stands beside it, and its details have the whole.
export const cause = (fault) => split(fault)[0].replace(/^bus "[^"]*": /, "").replace(/joint "[^"]*": /, "").replace(/^id (\d+): /, "servo $1: ").replace("read: ", "").replace(/^(.*lost): asked again .*$/, "$1");
// advice is what to do next; an emulated joint has no cable.
export const advice = (j, fault) => j.body === "emulated" ? "plug in" : j.body === "sim" ? "Reset" : split(fault)[1] || "check its cable and power";

const signs = { armed: "●", disarmed: "○", stopped: "■", expired: "◇", fault: "✕" };

// bar is a joint's place within its limits, with the goal: held anywhere, the joint moves there.
export function bar(a, i) {
  const j = rig.layout.agents[a].joints[i], low = j.wraps ? -Math.PI : j.min, high = j.wraps ? Math.PI : j.max;
  const bounded = Number.isFinite(low) && Number.isFinite(high) && j.position >= 0;
  const mark = el("i"), goal = el("b"), zero = el("u"), e = el("div", { class: "bar", tabIndex: 0, role: "slider", "aria-label": j.name + " position" }, zero, mark, goal);
  if (bounded && low < 0 && high > 0) zero.style.left = 100 * share(j, 0) + "%"; else zero.hidden = true;
  const limits = () => bounded ? tell(low, way(j)) + " to " + tell(high, way(j)) : "no limits";
  e.title = j.wraps ? "turns without end; hold to move there" : "limits " + limits() + "; hold to move there";
  e.setAttribute("aria-valuemin", bounded ? show(low) : 0);
  e.setAttribute("aria-valuemax", bounded ? show(high) : 1);
  e.setAttribute("aria-valuenow", 0);
  const aim = (ev) => {
    const r = e.getBoundingClientRect(), p = Math.max(0, Math.min(1, (ev.clientX - r.left) / r.width));
    if (bounded && j.modes[0]) toward(a, i, low + p * (high - low), e);
    else begin(a, i, () => 2 * p - 1, e);
  };
  e.addEventListener("pointerdown", (ev) => { ev.preventDefault(); e.focus(); e.setPointerCapture(ev.pointerId); aim(ev); });
  e.addEventListener("pointermove", (ev) => { if (e.classList.contains("on")) aim(ev); });
  for (const what of ["pointerup", "pointercancel", "lostpointercapture", "blur", "keyup"]) e.addEventListener(what, end);
  e.addEventListener("contextmenu", (ev) => ev.preventDefault());
  e.addEventListener("keydown", (ev) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[ev.key];
    if (!way) return;
    ev.preventDefault();
    if (!ev.repeat) begin(a, i, way, e);
  });
  let said = "";
  return { e, draw(r) {
    const angle = j.wraps && Number.isFinite(r.position) ? Math.atan2(Math.sin(r.position), Math.cos(r.position)) : r.position;
    const p = bounded ? share(j, angle) : NaN, g = bounded && r.mode === "position" ? share(j, r.goal) : NaN;
    mark.style.left = Number.isFinite(p) ? 100 * p + "%" : "-9px";
    goal.style.left = Number.isFinite(g) ? 100 * g + "%" : "-9px";
    e.classList.toggle("near", !j.wraps && (p < 0.02 || p > 0.98));
    const words = tell(r.position, way(j));
    if (words === said) return;
    said = words;
    e.setAttribute("aria-valuenow", Number.isFinite(angle) ? show(angle) : 0);
    e.setAttribute("aria-valuetext", words);
  } };
}

// jogs are the two buttons of a joint.
export function jogs(a, i) {
  const name = rig.layout.agents[a].joints[i].name;
  const minus = el("button", { type: "button", "aria-label": "jog " + name + " down" }, "−");
  const plus = el("button", { type: "button", "aria-label": "jog " + name + " up" }, "+");
  handle(minus, a, i, -1);
  handle(plus, a, i, 1);
  return [minus, plus];
}

// breaks lets a long name go on in a second line.
const breaks = (name) => name.split(/(?<=[_/])/).flatMap((part) => [el("wbr"), part]);

function row(a, i) {
  const agent = rig.layout.agents[a], j = agent.joints[i], unit = way(j), b = bar(a, i), [minus, plus] = jogs(a, i);
  const position = text(), warmth = text(), state = text(), fault = text(), next = text();
  const name = el("button", { type: "button", class: "name", title: agent.name + "/" + j.name, onclick: () => pick(a, i) },
    el("span", { class: j.body, title: j.body }, marks[j.body] ?? ""), ...breaks(j.name));
  const why = el("button", { type: "button", class: "why", hidden: true, onclick: () => pick(a, i) }, "✕ ", fault, " → ", next);
  const values = [el("span", { class: "n" }, position), el("span", { class: "n warmth" }, warmth), el("span", { class: "state" }, state)];
  const e = el("div", { class: "row", role: "group", "aria-label": j.name }, name, el("span", { class: "jog" }, minus), b.e, el("span", { class: "jog" }, plus), ...values, why);
  return { a, i, e, draw() {
    const r = read(a, i), [words, old] = says(r);
    b.draw(r);
    put(position, j.position < 0 ? tell(r.torque, force(j)) : tell(r.position, unit));
    put(warmth, Number.isFinite(r.temperature) ? tell(r.temperature, "°C") : "");
    put(state, rig.stale ? words : old && !r.fault ? "silent " + r.age.toFixed(1) + " s" : r.state === "armed" && !r.fault ? mode(r) : (signs[r.state] ?? "") + " " + r.state);
    if (r.fault) {
      put(fault, cause(r.fault) + (old && !rig.stale ? ", silent " + r.age.toFixed(1) + " s" : "") + (rig.stale ? ", not heard" : ""));
      put(next, advice(j, r.fault));
    }
    if (why.title !== r.fault) why.title = r.fault;
    why.hidden = !r.fault;
    for (const v of values) v.hidden = !!r.fault;
    e.classList.toggle("old", old);
    e.classList.toggle("bad", !!r.fault);
  } };
}

// list is all rows, with the choice of one for a phone.
export function list() {
  const rows = [], box = el("div", { class: "rows" });
  for (const [a, agent] of (rig.layout?.agents ?? []).entries()) {
    if (rig.layout.agents.length > 1 && agent.joints.length) box.append(el("div", { class: "agent" }, agent.name));
    for (const i of agent.joints.keys()) { rows.push(row(a, i)); box.append(rows.at(-1).e); }
  }
  rows[0]?.e.classList.add("first");
  const one = el("select", { "aria-label": "Joint", onchange: () => { const r = rows[one.value]; pick(r.a, r.i); } },
    ...rows.map((r, n) => el("option", { value: n }, (rig.layout.agents.length > 1 ? rig.layout.agents[r.a].name + "/" : "") + rig.layout.agents[r.a].joints[r.i].name)));
  const step = (by) => { if (rows.length) { const r = rows[(Number(one.value) + by + rows.length) % rows.length]; pick(r.a, r.i); } };
  const chooser = el("div", { class: "chooser" }, el("button", { type: "button", "aria-label": "Joint before", onclick: () => step(-1) }, "‹"), one,
    el("button", { type: "button", "aria-label": "Next joint", onclick: () => step(1) }, "›"));
  const mark = () => {
    const [a, i] = chosen();
    let at = rows.findIndex((r) => r.a === a && r.i === i);
    for (const [n, r] of rows.entries()) r.e.classList.toggle("picked", n === at);
    box.classList.toggle("none", at < 0);
    if (at >= 0) { one.value = at; rows[at].e.scrollIntoView?.({ block: "nearest" }); }
  };
  mark();
  return { box, chooser, mark, draw() { for (const r of rows) if (!r.e.hidden) r.draw(); } };
}
