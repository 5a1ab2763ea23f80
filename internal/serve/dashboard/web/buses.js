// Buses: the lines of servos.
import { el, show } from "./dom.js";
import { on, rig } from "./link.js";

let active = null;
on("status", () => active?.refresh());

export function open(main) {
  const rows = el("tbody"), note = el("p");
  const head = ["Bus", "Body", "Servos", "Cycle ms", "Wire ms", "Load", "Bytes out/in", "Cycles", "Timeouts", "Checksums", "Garbage bytes", "Fallbacks", "Reopened", "Silent now"];
  main.append(el("h2", {}, "Buses"), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { class: i > 1 && i < 13 ? "n" : "" }, h)))), rows)), note);
  // The newest frames of one bus, twice a second.
  const which = el("select", { "aria-label": "Bus" }), list = el("tbody");
  const frames = el("div", {}, el("h2", {}, "Last frames"), el("div", { class: "tools" }, which),
    el("table", { class: "frames" }, el("thead", {}, el("tr", {}, ...["", "Bytes", "Packets"].map((h) => el("th", {}, h)))), list));
  main.append(frames);
  const look = async () => {
    const [r, bus] = JSON.parse(which.value || "[0,\"\"]");
    if (!bus) return;
    try {
      const got = await (await fetch("/frames?" + new URLSearchParams({ rig: r, bus }))).json();
      list.replaceChildren(...got.reverse().map((f) => el("tr", {}, el("td", {}, f.out ? "→ out" : "← in"), el("td", { class: "n" }, f.size),
        el("td", {}, ...f.packets.map((p) => el("div", {}, p)), el("code", { class: f.packets.length ? "bytes" : "" }, f.hex.replace(/../g, "$& ") + (f.size * 2 > f.hex.length ? "…" : ""))))));
    } catch { /* no link: the head says so */ }
  };
  const timer = setInterval(look, 500);
  const refresh = () => {
    const all = [];
    for (const [i, r] of (rig.status?.rigs ?? []).entries()) {
      const period = rig.layout?.rigs[i]?.period_s ?? NaN;
      for (const b of r.buses) {
        const cells = [b.name, el("span", { class: b.body }, b.body), b.servos, show(b.spent_s * 1000), show(b.wire_s * 1000), show(100 * b.spent_s / period, 0) + " %" + (b.cycles_per_exchange > 1 ? ", every " + b.cycles_per_exchange + " cycles" : ""),
          b.sent_bytes + " / " + b.received_bytes, b.cycles, b.timeouts, b.bad_checksums, b.garbage_bytes, b.fallbacks, b.reopened,
          el("span", { class: "fault" }, b.silent.length ? b.silent[0] + (b.silent.length > 1 ? " and " + (b.silent.length - 1) + " more" : "") : "")];
        all.push(el("tr", {}, ...cells.map((c, i) => el("td", { class: i > 1 && i < 13 ? "n" : "" }, c))));
      }
    }
    rows.replaceChildren(...all);
    frames.hidden = !all.length;
    const names = (rig.status?.rigs ?? []).flatMap((r, i) => r.buses.map((b) => JSON.stringify([i, b.name])));
    if (which.length !== names.length) which.replaceChildren(...names.map((n) => el("option", { value: n }, JSON.parse(n)[1])));
    note.textContent = all.length ? "Cycle: what sending and receiving took in the last cycle, by the line's clock. Wire: its bytes at the line's rate. Load: cycle time as a share of the period."
      : "No bus is open: every joint is simulated, or driven by pulses. Try: halyard serve --body emulated";
  };
  refresh();
  active = { close() { clearInterval(timer); active = null; }, refresh };
  return active;
}
