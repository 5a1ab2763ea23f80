// Plots: any channels over time, as they come.
import { css, el } from "./dom.js";
import { on, rig } from "./link.js";

const keep = 36000; // samples a channel: ten minutes at 60 Hz
// Okabe and Ito's colours, with dashes that tell them apart without any.
const palettes = {
  light: ["#0072b2", "#c04f00", "#00795a", "#a8487d", "#8d6e00", "#2a7fb8", "#666666", "#6a3d9a"],
  dark: ["#56b4e9", "#ff9350", "#35c79a", "#e79fcb", "#f0c64a", "#9ad1f5", "#bbbbbb", "#c3a5f0"],
};
const colour = (style) => palettes[document.documentElement.dataset.theme === "dark" ? "dark" : "light"][style];
const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2]];
const series = new Map(); // by name; they go on while another page is shown
let span = 10, paused = false, end = 0;

const key = (a, c) => (rig.layout.rigs.length > 1 ? rig.layout.rigs[a.rig].name + "/" : "") + a.name + "/" + c.name;

// channels are all that can be chosen, with where their values are.
function channels() {
  const list = [];
  for (const a of rig.layout?.agents ?? []) {
    for (const [i, c] of a.channels.entries()) list.push({ name: key(a, c), unit: c.unit, at: a.first + i, rig: a.rig });
    for (const [i, j] of a.joints.entries()) list.push({ name: key(a, { name: j.name + "/goal" }), unit: "", at: a.goals + 3 * i + 2, rig: a.rig });
  }
  return list;
}

on("layout", () => { // the same names may be elsewhere now
  const all = new Map(channels().map((c) => [c.name, c]));
  for (const [name, s] of series) s.channel = all.get(name) ?? null;
});
on("frame", () => {
  for (const s of series.values()) {
    if (!s.channel) continue;
    const t = rig.times[s.channel.rig], last = s.count ? s.t[(s.count - 1) % keep] : -Infinity;
    if (t < last) s.count = 0; // time began again
    if (t === last) continue;
    s.t[s.count % keep] = t;
    s.v[s.count % keep] = rig.values[s.channel.at];
    s.count++;
  }
});

function choose(channel, chosen) {
  if (!chosen) { series.delete(channel.name); return; }
  const used = new Set([...series.values()].map((s) => s.style));
  const style = [...dashes.keys()].find((i) => !used.has(i)) ?? series.size % dashes.length;
  series.set(channel.name, { channel, style, count: 0, t: new Float64Array(keep), v: new Float32Array(keep) });
}

// between calls f with each sample from t0 to t1.
function between(s, t0, t1, f) {
  for (let i = Math.max(0, s.count - keep); i < s.count; i++) {
    const t = s.t[i % keep];
    if (t >= t0 && t <= t1) f(t, s.v[i % keep]);
  }
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

// step is a round distance of about a fifth of a range.
function step(range) {
  const raw = range / 5, p = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((k) => k * p).find((v) => v >= raw);
}

export function open(main) {
  if (rig.layout && !series.size) {
    for (const a of rig.layout.agents.slice(0, 1)) for (const j of a.joints.slice(0, 3)) {
      if (j.position >= 0) choose(channels().find((c) => c.at === a.first + j.position), true);
    }
  }
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label": "Plot. Plus and minus zoom, arrow keys move, P pauses." });
  const pause = el("button", { type: "button", onclick: () => hold(!paused) }, "Pause");
  const hold = (on) => { paused = on; pause.textContent = on ? "Go on" : "Pause"; pause.setAttribute("aria-pressed", on); };
  const csv = el("button", { type: "button", onclick: () => {
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
  let cursor = -1;
  const pen = canvas.getContext("2d");
  return {
    draw() {
      const scale = Math.min(devicePixelRatio || 1, 2), w = canvas.clientWidth, h = canvas.clientHeight;
      if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) { canvas.width = Math.round(w * scale); canvas.height = Math.round(h * scale); }
      if (!paused) end = newest();
      const t0 = end - span;
      let low = Infinity, high = -Infinity;
      for (const s of series.values()) between(s, t0, end, (_, v) => { if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); } });
      if (!(low <= high)) { low = -1; high = 1; }
      if (high - low < 1e-3) { low -= 0.05; high += 0.05; }
      const pad = 0.06 * (high - low), left = 58, right = 8, top = 8, bottom = 26;
      low -= pad;
      high += pad;
      const x = (t) => left + (t - t0) / span * (w - left - right), y = (v) => top + (high - v) / (high - low) * (h - top - bottom);
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      pen.fillStyle = css("--card");
      pen.fillRect(0, 0, w, h);
      pen.font = "12px system-ui, sans-serif";
      pen.fillStyle = css("--soft");
      pen.strokeStyle = css("--line");
      pen.lineWidth = 1;
      pen.setLineDash([]);
      const dv = step(high - low), dt = step(span), digits = Math.max(0, -Math.floor(Math.log10(dv) + 1e-9));
      pen.beginPath();
      pen.textAlign = "right";
      for (let v = Math.ceil(low / dv) * dv; v <= high; v += dv) { pen.moveTo(left, y(v)); pen.lineTo(w - right, y(v)); pen.fillText(v.toFixed(digits), left - 6, y(v) + 4); }
      pen.textAlign = "center";
      for (let t = Math.ceil(t0 / dt) * dt; t <= end; t += dt) { if (t < 0) continue; pen.moveTo(x(t), top); pen.lineTo(x(t), h - bottom); pen.fillText(t.toFixed(dt < 1 ? 2 : 0) + " s", x(t), h - 8); }
      pen.stroke();
      pen.save();
      pen.beginPath();
      pen.rect(left, top, w - left - right, h - top - bottom);
      pen.clip();
      pen.lineWidth = 1.8;
      let row = 0;
      const at = cursor < left ? NaN : t0 + (cursor - left) / (w - left - right) * span;
      for (const [name, s] of series) {
        pen.strokeStyle = colour(s.style);
        pen.setLineDash(dashes[s.style]);
        pen.beginPath();
        let up = true, near = NaN, best = Infinity;
        between(s, t0, end, (t, v) => {
          if (!Number.isFinite(v)) { up = true; return; }
          if (up) pen.moveTo(x(t), y(v)); else pen.lineTo(x(t), y(v));
          up = false;
          if (Math.abs(t - at) < best) { best = Math.abs(t - at); near = v; }
        });
        pen.stroke();
        pen.fillStyle = colour(s.style);
        pen.textAlign = "left";
        const last = s.count ? s.v[(s.count - 1) % keep] : NaN, value = Number.isNaN(at) ? last : near;
        pen.fillText("━ " + name + "  " + (Number.isFinite(value) ? value.toFixed(3) : "–") + " " + (s.channel ? s.channel.unit : "(gone)"), left + 8, top + 16 + 16 * row++);
      }
      if (!Number.isNaN(at)) { pen.setLineDash([]); pen.strokeStyle = css("--soft"); pen.beginPath(); pen.moveTo(cursor, top); pen.lineTo(cursor, h - bottom); pen.stroke(); }
      pen.restore();
    },
  };
}
