// Plots: any channels over time, at the rate of the rig: the server keeps them, and the page fetches what is new.
import { colour, dashes, draw } from "./chart.js";
import { el } from "./dom.js";
import { on, rig } from "./link.js";
import { shownAs, way } from "./units.js";

const keep = 1 << 17; // samples a channel: eleven minutes at 200 Hz
const series = new Map(); // by name; they go on while another page is shown
let span = 10, paused = false, end = 0;

const key = (a, c) => (rig.layout.rigs.length > 1 ? rig.layout.rigs[a.rig].name + "/" : "") + a.name + "/" + c.name;

// channels are all that can be chosen, with where their values are.
function channels() {
  const list = [];
  for (const a of rig.layout?.agents ?? []) {
    for (const [i, c] of a.channels.entries()) list.push({ name: key(a, c), unit: c.unit, path: a.name + "/" + c.name, at: a.first + i, rig: a.rig });
    for (const [i, j] of a.joints.entries()) list.push({ name: key(a, { name: j.name + "/goal" }), unit: j.modes[0] ? way(j) : "", path: a.name + "/" + j.name + "/goal", at: a.goals + 3 * i + 2, rig: a.rig });
  }
  return list;
}

// restore finds the channels: the same names may be elsewhere now, and what was ticked before a reload is ticked again.
function restore() {
  if (!rig.layout) return;
  const all = new Map(channels().map((c) => [c.name, c]));
  for (const [name, s] of series) s.channel = all.get(name) ?? null;
  for (const name of remembered) if (all.has(name) && !series.has(name)) choose(all.get(name), true);
  remembered = [];
}
on("layout", restore);

let remembered = [];
try { remembered = JSON.parse(localStorage.getItem("plots") ?? "[]"); } catch { /* none */ }

function add(s, t, v) {
  const last = s.count ? s.t[(s.count - 1) % keep] : -Infinity;
  if (t < last) s.count = 0; // time began again
  if (t === last) return;
  s.t[s.count % keep] = t;
  s.v[s.count % keep] = v;
  s.count++;
}

// fetchNew gets the samples since the last ones of each rig.
let fetching = false, fetched = 0, fresh = 0;
async function fetchNew(most = 1 << 15) {
  fetching = true;
  fetched = performance.now();
  try {
    for (const k of rig.layout?.rigs.keys() ?? []) {
      for (const after of new Set([...series.values()].filter((s) => s.channel?.rig === k).map((s) => s.count ? s.t[(s.count - 1) % keep] : -1))) {
        const list = [...series.values()].filter((s) => s.channel?.rig === k && (s.count ? s.t[(s.count - 1) % keep] : -1) === after);
        const q = new URLSearchParams({ rig: k, after: Math.min(after, (rig.times[k] ?? after) + 1), most });
        for (const s of list) q.append("channel", s.channel.path);
        const r = await fetch("/trace?" + q);
        if (!r.ok) throw new Error(await r.text());
        const view = new DataView(await r.arrayBuffer());
        let at = 0;
        for (const s of list) {
          for (let n = view.getUint32(at, true), i = (at += 4, 0); i < n; i++, at += 12) add(s, view.getFloat64(at, true), view.getFloat32(at + 8, true));
        }
        fresh++;
      }
    }
  } catch (e) { if (!rig.stale) console.warn("plots: " + e.message); } // without a server the head says so
  fetching = false;
}
let shown = false;
setInterval(() => { if (!document.hidden && !fetching && series.size && !rig.stale && performance.now() - fetched > (shown ? 60 : 5000)) fetchNew(); }, 60);

function choose(channel, chosen) {
  if (!chosen) { series.delete(channel.name); remember(); return; }
  const used = new Set([...series.values()].map((s) => s.style));
  const style = [...dashes.keys()].find((i) => !used.has(i)) ?? series.size % dashes.length;
  series.set(channel.name, { channel, style, count: 0, t: new Float64Array(keep), v: new Float32Array(keep) });
  remember();
}
const remember = () => localStorage.setItem("plots", JSON.stringify([...series.keys()]));

// between calls f with each sample from t0 to t1.
function between(s, t0, t1, f) {
  let low = Math.max(0, s.count - keep), high = s.count;
  for (let end = high; low < end;) { const mid = (low + end) >> 1; if (s.t[mid % keep] < t0) low = mid + 1; else end = mid; }
  for (let i = low; i < high && s.t[i % keep] <= t1; i++) f(s.t[i % keep], s.v[i % keep]);
}

const newest = () => Math.max(0, ...[...series.values()].map((s) => s.count ? s.t[(s.count - 1) % keep] : 0));

// table is what is seen as CSV: a row a time, a column a channel.
function table() {
  const names = [...series.keys()], rows = new Map();
  for (const [n, s] of [...series.values()].entries()) {
    between(s, end - span, end, (t, v) => {
      if (!rows.has(t)) rows.set(t, Array(names.length).fill(""));
      rows.get(t)[n] = Number.isNaN(v) ? "" : String(v);
    });
  }
  const quote = (x) => /[",\n]/.test(x) ? '"' + x.replaceAll('"', '""') + '"' : x;
  return ["time_s", ...[...series.values()].map((s, i) => quote(names[i] + (s.channel?.unit ? " [" + s.channel.unit + "]" : "")))].join(",") + "\n" +
    [...rows].sort((a, b) => a[0] - b[0]).map(([t, r]) => t.toFixed(4) + "," + r.join(",")).join("\n") + "\n";
}

export function open(main) {
  shown = true;
  restore();
  if (rig.layout && !series.size) {
    for (const a of rig.layout.agents.slice(0, 1)) for (const j of a.joints.slice(0, 3)) {
      if (j.position >= 0) choose(channels().find((c) => c.at === a.first + j.position), true);
    }
  }
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label": "Plot. Plus and minus zoom, arrow keys move, P pauses." });
  const pause = el("button", { type: "button", onclick: () => hold(!paused) }, "Pause");
  const hold = (on) => { paused = on; pause.textContent = on ? "Go on" : "Pause"; pause.setAttribute("aria-pressed", on); };
  const csv = el("button", { type: "button", onclick: async () => {
    await fetchNew();
    const a = el("a", { href: URL.createObjectURL(new Blob([table()], { type: "text/csv" })), download: "halyard.csv" });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  } }, "Export CSV");
  const width = el("select", { "aria-label": "Time shown", onchange: () => { span = Number(width.value); } },
    ...[2, 5, 10, 30, 60, 300].map((v) => el("option", { value: v, selected: v === span }, v + " s")));
  const filter = el("input", { type: "search", placeholder: "Find channels", "aria-label": "Find channels", oninput: () => list() });
  const choices = el("div");
  const list = () => {
    const want = filter.value.toLowerCase();
    const all = channels().filter((c) => c.name.toLowerCase().includes(want)).sort((a, b) => series.has(b.name) - series.has(a.name));
    choices.replaceChildren(...all.slice(0, 200).map((c) => {
      const s = series.get(c.name);
      const mark = el("em", {}, s ? " ━ " : " ");
      if (s) mark.style.color = colour(s.style);
      return el("label", { class: "pick" }, el("input", { type: "checkbox", checked: !!s, onchange: (e) => { choose(c, e.target.checked); list(); } }), mark, c.name + (c.unit ? " [" + c.unit + "]" : ""));
    }));
    if (all.length > 200) choices.append(el("p", {}, all.length - 200 + " more: type to find them"));
  };
  list();
  main.append(el("div", { class: "split" },
    el("div", { class: "view" }, canvas),
    el("div", { class: "side" }, el("div", { class: "tools" }, pause, width, csv), el("div", { class: "tools" }, filter), choices)));
  hold(paused);

  const zoom = (k) => { hold(true); span = Math.max(0.05, Math.min(600, span * k)); };
  const shift = (dt) => { hold(true); end += dt; };
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.001)); }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => canvas.setPointerCapture(e.pointerId));
  canvas.addEventListener("pointermove", (e) => { cursor = e.offsetX; if (e.buttons) shift(-e.movementX / canvas.clientWidth * span); });
  canvas.addEventListener("pointerleave", () => { cursor = -1; });
  canvas.addEventListener("keydown", (e) => {
    switch (e.key) {
      case "+": case "=": zoom(0.8); break;
      case "-": zoom(1.25); break;
      case "ArrowLeft": shift(-span / 10); break;
      case "ArrowRight": shift(span / 10); break;
      case "p": case "P": hold(!paused); break;
      default: return;
    }
    e.preventDefault();
  });
  let cursor = -1, last = 0;
  const pen = canvas.getContext("2d");
  let drawn = "";
  return {
    close() { shown = false; },
    draw(now) {
      if (!paused) end = newest();
      const t0 = end - span, state = [fresh, t0, end, cursor, canvas.clientWidth, canvas.clientHeight, [...series.keys()], document.documentElement.dataset.theme].join();
      if (state === drawn || now - last < 30) return;
      [drawn, last] = [state, now];
      const curves = [...series].map(([name, s]) => {
        const [unit, k] = s.channel ? shownAs(s.channel.unit) : ["(gone)", 1];
        return { name, unit, style: s.style, dash: dashes[s.style], newest: s.count ? k * s.v[(s.count - 1) % keep] : NaN, each: (f) => between(s, t0, end, (t, v) => f(t, k * v)) };
      });
      const units = [...new Set(curves.map((c) => c.unit))]; // an axis a unit
      for (const [lane, unit] of units.entries()) draw(canvas, pen, { t0, t1: end, cursor, lane, lanes: units.length, curves: curves.filter((c) => c.unit === unit) });
      if (!units.length) draw(canvas, pen, { t0, t1: end, cursor, curves });
    },
  };
}
