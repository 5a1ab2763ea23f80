// Events and findings: what has happened, and what is wrong now with its fix.
import { el, split } from "./dom.js";
import { on, rig } from "./link.js";

let active = null;
on("events", () => active?.events());
on("status", () => active?.findings());
on("stale", () => active?.findings());

export function open(main) {
  const list = el("ol", { class: "entries" });
  const rows = el("tbody");
  const filter = el("input", { type: "search", placeholder: "Filter events", "aria-label": "Filter events", oninput: () => active.events() });
  main.append(el("h2", {}, "Findings"),
    el("table", {}, el("thead", {}, el("tr", {}, ...["What", "Found", "Try"].map((h) => el("th", {}, h)))), rows),
    el("h2", {}, "Events"), el("div", { class: "tools" }, filter), list);
  active = {
    close() { active = null; },
    events() {
      const want = filter.value.toLowerCase();
      const all = [...rig.events.values()].sort((a, b) => b.time < a.time ? -1 : 1).filter((e) => e.text.toLowerCase().includes(want));
      list.replaceChildren(...all.map((e) => el("li", { class: e.level },
        el("time", {}, new Date(e.time).toLocaleTimeString("en-GB")), el("small", {}, e.level), el("span", {}, e.text + (e.count > 1 ? " ×" + e.count : "")))));
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
        for (const [device, fault] of Object.entries(a.faults)) found.push([name + "/" + device, ...split(fault)]);
      }
      rows.replaceChildren(...(found.length ? found : [["all", "no findings", ""]]).map((f) => el("tr", {}, ...f.map((c) => el("td", {}, c)))));
    },
  };
  active.events();
  active.findings();
  return active;
}
