// Buses: the lines of servos.
import { el, show } from "./dom.js";
import { on, rig } from "./link.js";

let active = null;
on("status", () => active?.refresh());

export function open(main) {
  const rows = el("tbody"), note = el("p");
  const head = ["Bus", "Body", "Servos", "Cycle ms", "Wire ms", "Load", "Bytes out/in", "Cycles", "Timeouts", "Checksums", "Garbage bytes", "Fallbacks", "Reopened", "Silent now"];
  main.append(el("h2", {}, "Buses"), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { class: i > 1 && i < 13 ? "n" : "" }, h)))), rows)), note);
  const refresh = () => {
    const all = [];
    for (const [i, r] of (rig.status?.rigs ?? []).entries()) {
      const period = rig.layout?.rigs[i]?.period_s ?? NaN;
      for (const b of r.buses) {
        const cells = [b.name, el("span", { class: b.body }, b.body), b.servos, show(b.spent_s * 1000), show(b.wire_s * 1000), show(100 * b.spent_s / period, 0) + " %",
          b.sent_bytes + " / " + b.received_bytes, b.cycles, b.timeouts, b.bad_checksums, b.garbage_bytes, b.fallbacks, b.reopened,
          el("span", { class: "fault" }, b.silent.length ? b.silent[0] + (b.silent.length > 1 ? " and " + (b.silent.length - 1) + " more" : "") : "")];
        all.push(el("tr", {}, ...cells.map((c, i) => el("td", { class: i > 1 && i < 13 ? "n" : "" }, c))));
      }
    }
    rows.replaceChildren(...all);
    note.textContent = all.length ? "Cycle: what sending and receiving took in the last cycle, by the line's clock. Wire: its bytes at the line's rate. Load: cycle time as a share of the period."
      : "No bus is open: every joint is simulated, or driven by pulses. Try: halyard serve --body emulated";
  };
  refresh();
  active = { close() { active = null; } , refresh };
  return active;
}
