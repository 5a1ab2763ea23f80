// Joints: a row each, live, with jog buttons.
import { el, put, show, split, text } from "./dom.js";
import { rig } from "./link.js";
import { getShare, handle, setShare } from "./jog.js";

export const states = ["armed", "disarmed", "stopped", "expired", "fault"];
const unit = (j) => j.kind === "slide" ? "m" : "rad";

// speed is the choice of how fast joints jog.
export function speed() {
  const s = el("select", { "aria-label": "Jog speed", onchange: (e) => setShare(Number(e.target.value)) },
    ...[0.02, 0.05, 0.1, 0.25, 0.5, 1].map((v) => el("option", { value: v, selected: v === getShare() }, v * 100 + " % of the greatest speed")));
  return s;
}

// read is what is known of a joint: index i of agent number a.
export function read(a, i) {
  const agent = rig.layout.agents[a], j = agent.joints[i], v = rig.values;
  const of = (c) => c < 0 ? NaN : v[agent.first + c];
  const goal = agent.goals + 3 * i;
  const status = rig.status?.agents[a];
  return {
    position: of(j.position), velocity: of(j.velocity), torque: of(j.torque), voltage: of(j.voltage), temperature: of(j.temperature),
    age: v[agent.ages + i] + (rig.stale ? (rig.now() - rig.heard) / 1000 : 0), state: states[v[goal]] ?? "–", mode: v[goal + 1] >= 0 ? j.modes[v[goal + 1]] : "",
    goal: v[goal + 2], fault: status?.faults[j.name] ?? "",
  };
}

// says is a joint's state in words, and whether it is old. A state of the past is not told as if it were present.
export function says(r) {
  const old = rig.stale || r.age > 0.3, fault = r.fault ? "fault: " + split(r.fault)[0] : "";
  if (rig.stale) return ["not heard" + (fault ? "; last: " + fault : ""), true];
  const state = fault || (r.state === "armed" && !r.mode ? "armed, no torque yet" : r.state);
  return [old ? state + "; silent for " + r.age.toFixed(1) + " s" : state, old];
}

// share is where in its limits a joint is, 0 to 1.
const share = (j, v) => Math.max(0, Math.min(1, (v - (j.wraps ? -Math.PI : j.min)) / (j.wraps ? 2 * Math.PI : j.max - j.min)));

function row(a, i) {
  const agent = rig.layout.agents[a], j = agent.joints[i];
  const cells = { position: text(), velocity: text(), torque: text(), temperature: text(), voltage: text(), age: text(), state: text() };
  const mark = el("i"), goal = el("b"), bar = el("div", { class: "bar", role: "meter", "aria-label": j.name + " position",
    "aria-valuemin": show(j.wraps ? -Math.PI : j.min), "aria-valuemax": show(j.wraps ? Math.PI : j.max), "aria-valuenow": 0 }, mark, goal);
  if (!j.wraps) bar.title = "limits " + show(j.min) + " to " + show(j.max) + " " + unit(j);
  const why = el("div", {}, cells.state), state = el("td", { class: "why", "data-h": "state" }, why);
  const minus = el("button", { type: "button", "aria-label": "jog " + j.name + " down" }, "−");
  const plus = el("button", { type: "button", "aria-label": "jog " + j.name + " up" }, "+");
  handle(minus, a, i, -1);
  handle(plus, a, i, 1);
  const td = (h, node) => el("td", { class: "n", "data-h": h }, node);
  const tr = el("tr", {},
    el("td", { title: agent.name + "/" + j.name }, el("span", { class: j.body, title: j.body }, { sim: "◇ ", emulated: "◈ ", real: "◆ " }[j.body] ?? ""), agent.name + "/" + j.name),
    el("td", { class: "jog" }, minus, " ", plus), el("td", { class: "barcell" }, bar),
    td("pos " + unit(j), cells.position), td("vel", cells.velocity), td("torque", cells.torque), td("°C", cells.temperature), td("V", cells.voltage), td("age ms", cells.age), state);
  return {
    tr,
    draw() {
      const r = read(a, i);
      put(cells.position, show(r.position, 3));
      put(cells.velocity, show(r.velocity, 2));
      put(cells.torque, show(r.torque, 2));
      put(cells.temperature, show(r.temperature, 0));
      put(cells.voltage, show(r.voltage, 1));
      put(cells.age, show(r.age * 1000, 0));
      const [words, old] = says(r);
      put(cells.state, words);
      tr.classList.toggle("old", old);
      if (state.title !== r.fault) { state.title = r.fault; why.className = r.fault ? "fault" : ""; }
      const angle = j.wraps && Number.isFinite(r.position) ? Math.atan2(Math.sin(r.position), Math.cos(r.position)) : r.position;
      const p = share(j, angle), now = Number.isFinite(angle) ? show(angle) : "0";
      if (bar.getAttribute("aria-valuenow") !== now) bar.setAttribute("aria-valuenow", now);
      mark.style.left = Number.isFinite(p) ? 100 * p + "%" : "-9px";
      const g = r.mode === "position" ? share(j, r.goal) : NaN;
      goal.style.left = Number.isFinite(g) ? 100 * g + "%" : "-9px";
      bar.classList.toggle("near", !j.wraps && (p < 0.02 || p > 0.98));
    },
  };
}

export function open(main) {
  const rows = [];
  const body = el("tbody");
  const filter = el("input", { type: "search", placeholder: "Filter joints", "aria-label": "Filter joints", oninput: () => select() });
  const select = () => {
    for (const r of rows) r.tr.hidden = !r.tr.textContent.toLowerCase().includes(filter.value.toLowerCase());
  };
  for (const [a, agent] of (rig.layout?.agents ?? []).entries()) {
    for (const i of agent.joints.keys()) {
      const r = row(a, i);
      rows.push(r);
      body.append(r.tr);
    }
  }
  const head = ["Joint", "Jog (hold)", "Position (goal dashed)", "rad | m", "rad/s", "N·m", "°C", "V", "Age ms", "State"];
  main.append(el("div", { class: "tools" }, filter, speed(), el("span", { class: "sim" }, "◇ simulated"), el("span", { class: "emulated" }, "◈ emulated"), el("span", { class: "real" }, "◆ real")),
    el("table", { class: "joints" }, el("thead", {}, el("tr", {}, ...head.map((h) => el("th", {}, h)))), body));
  let last = 0;
  return {
    draw(now) {
      if (now - last < 60) return; // text at 15 Hz
      last = now;
      for (const r of rows) if (!r.tr.hidden) r.draw();
    },
  };
}
