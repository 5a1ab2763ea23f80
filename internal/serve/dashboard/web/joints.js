// Joints: a row each, live, with jog buttons.
import { el, put, show, split, text } from "./dom.js";
import { rig } from "./link.js";
import { getShare, setShare } from "./jog.js";
import { bar, jogs } from "./rows.js";
import { force, tell, way } from "./units.js";

export const states = ["armed", "disarmed", "stopped", "expired", "fault"];
export const marks = { sim: "◇ ", emulated: "◈ ", real: "◆ " };

// mode is what an armed joint does, as a sign and a word.
export const mode = (r) => !r.mode ? "○ no torque" : Math.abs(r.velocity) > 0.02 ? "▶ moving" : "● holding";

// speed is the choice of how fast joints jog.
export function speed() {
  const s = el("select", { "aria-label": "Jog speed", onchange: (e) => setShare(Number(e.target.value)) },
    ...[0.02, 0.05, 0.1, 0.25, 0.5, 1].map((v) => el("option", { value: v, selected: v === getShare() }, v * 100 + " % speed")));
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
export const share = (j, v) => Math.max(0, Math.min(1, (v - (j.wraps ? -Math.PI : j.min)) / (j.wraps ? 2 * Math.PI : j.max - j.min)));

function row(a, i) {
  const agent = rig.layout.agents[a], j = agent.joints[i], b = bar(a, i), [minus, plus] = jogs(a, i), path = agent.name + "/" + j.name;
  const cells = [["position", way(j)], ["velocity", way(j) + "/s"], ["torque", force(j)], ["temperature", "°C"], ["voltage", "V"]].map(([name, unit]) => [name, unit, text()]);
  const age = text(), words = text(), why = el("div", {}, words), state = el("td", { class: "why", "data-h": "state" }, why);
  const td = (h, node) => el("td", { class: "n", "data-h": h }, node);
  const tr = el("tr", {},
    el("td", { title: path }, el("span", { class: j.body, title: j.body }, marks[j.body] ?? ""), path),
    el("td", { class: "jog" }, minus, " ", plus), el("td", { class: "barcell" }, b.e), ...cells.map(([name, , t]) => td(name, t)), td("age ms", age), state);
  return {
    tr,
    draw() {
      const r = read(a, i), [now, old] = says(r);
      for (const [name, unit, t] of cells) put(t, Number.isFinite(r[name]) ? tell(r[name], unit) : "–");
      put(age, show(r.age * 1000, 0));
      put(words, now);
      tr.classList.toggle("old", old);
      if (state.title !== r.fault) { state.title = r.fault; why.className = r.fault ? "fault" : ""; }
      b.draw(r);
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
  const head = ["Joint", "Jog (hold)", "Place in its limits", "Position", "Velocity", "Torque", "Temp.", "Voltage", "Age ms", "State"];
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
