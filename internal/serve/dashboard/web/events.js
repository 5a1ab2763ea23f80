// Events and findings: what has happened, and what is wrong now with its fix.
import { el, split } from "./dom.js";
import { on, rig } from "./link.js";
import { notice } from "./main.js";
import { advice } from "./rows.js";

// An incident is what happened within half a second: one line, with the rest behind it. An order of a person begins another one.
const near = 500; // ms
const weight = { order: 5, error: 4, warn: 3, info: 2, event: 1 };
function incidents(list) {
  const out = [];
  for (const e of list) { // the oldest first
    const at = Date.parse(e.time), last = out.at(-1);
    if (last && e.level !== "order" && at - last.until <= near) { last.all.push(e); last.until = at; } else out.push({ all: [e], until: at });
  }
  return out.reverse();
}
const headline = (i) => i.all.reduce((best, e) => (weight[e.level] ?? 0) > (weight[best.level] ?? 0) ? e : best);

// clock is the local time of the day with milliseconds.
const clock = (t) => { const d = new Date(t); return d.toLocaleTimeString("en-GB") + "." + String(d.getMilliseconds()).padStart(3, "0"); };
const told = (e) => e.text + (e.count > 1 ? " ×" + e.count : "");

let active = null, unfolded = new Set();
on("events", () => active?.events());
on("status", () => active?.findings());
on("stale", () => active?.findings());

export function open(main) {
  const list = el("ol", { class: "entries" });
  const rows = el("tbody");
  const filter = el("input", { type: "search", placeholder: "Filter events", "aria-label": "Filter events", oninput: () => active.events() });
  main.append(el("h2", {}, "Findings"),
    el("table", {}, el("thead", {}, el("tr", {}, ...["What", "Found", "Try"].map((h) => el("th", {}, h)))), rows),
    el("h2", {}, "Events"), el("div", { class: "tools" }, filter, el("button", { type: "button", onclick: async () => {
      try { await navigator.clipboard.writeText(list.innerText); notice("events: copied"); } catch (e) { notice("copy: " + e.message); }
    } }, "Copy")), list);
  active = {
    close() { active = null; },
    events() {
      const want = filter.value.toLowerCase();
      const all = incidents([...rig.events.values()].sort((a, b) => b.time < a.time ? 1 : b.time > a.time ? -1 : a.id - b.id)).filter((i) => i.all.some((e) => e.text.toLowerCase().includes(want)));
      list.replaceChildren(...all.map((i) => {
        const first = headline(i), rest = i.all.filter((e) => e !== first), key = first.id;
        const more = rest.length && el("details", { open: unfolded.has(key), ontoggle: (e) => { if (e.target.open) unfolded.add(key); else unfolded.delete(key); } },
          el("summary", {}, rest.length + " more at the same time"), ...rest.map((e) => el("div", {}, clock(e.time) + " " + e.level + " " + told(e))));
        return el("li", { class: first.level }, el("time", {}, clock(first.time)), el("small", {}, first.level), el("span", {}, told(first), more || ""));
      }));
      if (!all.length) list.append(el("li", {}, el("time", {}, "–"), el("small", {}, ""), el("span", {}, "nothing yet")));
    },
    findings() {
      const found = [];
      const s = rig.status, l = rig.layout;
      if (rig.stale) found.push(["server", "nothing heard since " + (rig.since ?? "the page was opened") + ": all below is old", "look at the program and the network"]);
      if (!s || !l) return;
      for (const [i, r] of s.rigs.entries()) {
        const name = l.rigs[i]?.name ?? "";
        if (r.stopped) found.push([name, "the emergency stop is latched", "Reset, then Arm"]);
        if (r.last_fault) found.push([name, ...split(r.last_fault)]);
        if (r.missed) found.push([name, r.missed + " missed periods of " + r.ticks + " cycles", "halyard doctor"]);
      }
      for (const [i, a] of s.agents.entries()) {
        const name = l.agents[i]?.name ?? "";
        if (a.state === "disarmed") found.push([name, "disarmed" + (a.reason ? " by " + a.reason : ""), "Arm"]);
        for (const [device, fault] of Object.entries(a.faults)) {
          const j = l.agents[i]?.joints.find((k) => k.name === device);
          found.push([name + "/" + device, split(fault)[0], j ? advice(j, fault) : split(fault)[1]]);
        }
      }
      rows.replaceChildren(...(found.length ? found : [["all", "no findings", ""]]).map((f) => el("tr", {}, ...f.map((c) => el("td", {}, c)))));
    },
  };
  active.events();
  active.findings();
  return active;
}
