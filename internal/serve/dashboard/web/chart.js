// What draws curves over time on a canvas.
import { css } from "./dom.js";

// Okabe and Ito's colours, with dashes that tell them apart without any.
const palettes = {
  light: ["#0072b2", "#c04f00", "#00795a", "#a8487d", "#8d6e00", "#2a7fb8", "#666666", "#6a3d9a"],
  dark: ["#56b4e9", "#ff9350", "#35c79a", "#e79fcb", "#f0c64a", "#9ad1f5", "#bbbbbb", "#c3a5f0"],
};
export const colour = (style) => palettes[document.documentElement.dataset.theme === "dark" ? "dark" : "light"][style % 8];
export const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2]];

// step is a round distance of about a fifth of a range.
function step(range) {
  const raw = range / 5, p = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((k) => k * p).find((v) => v >= raw);
}

export const left = 58, right = 8;

// draw draws curves from t0 to t1. A curve has a name, a unit, a style (which colour), dash, newest (its last value) and each(f), which
// calls f with every time and value. cursor is the x of a line at which values are told, -1 = none; marks are times with text. Of lanes
// above one another this is number lane.
export function draw(canvas, pen, { t0, t1, curves, cursor = -1, marks = [], lane = 0, lanes = 1 }) {
  const scale = Math.min(devicePixelRatio || 1, 2), w = canvas.clientWidth, full = canvas.clientHeight, h = full / lanes, span = t1 - t0;
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(full * scale)) { canvas.width = Math.round(w * scale); canvas.height = Math.round(full * scale); }
  let low = Infinity, high = -Infinity;
  for (const s of curves) s.each((t, v) => { if (t >= t0 && t <= t1 && Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); } });
  if (!(low <= high)) { low = -1; high = 1; }
  if (high - low < 1e-3) { low -= 0.05; high += 0.05; }
  const pad = 0.06 * (high - low), top = 8, bottom = 26;
  low -= pad;
  high += pad;
  const x = (t) => left + (t - t0) / span * (w - left - right), y = (v) => top + (high - v) / (high - low) * (h - top - bottom);
  pen.setTransform(scale, 0, 0, scale, 0, scale * lane * h);
  pen.fillStyle = css("--card");
  pen.fillRect(0, 0, w, h);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = css("--soft");
  pen.strokeStyle = css("--line");
  pen.lineWidth = 1;
  pen.setLineDash([]);
  const dv = step(high - low), dt = step(span), digits = Math.max(0, -Math.floor(Math.log10(dv) + 1e-9)), tens = Math.max(0, -Math.floor(Math.log10(dt) + 1e-9));
  pen.beginPath();
  pen.textAlign = "right";
  for (let v = Math.ceil(low / dv) * dv; v <= high; v += dv) { pen.moveTo(left, y(v)); pen.lineTo(w - right, y(v)); pen.fillText(v.toFixed(digits), left - 6, y(v) + 4); }
  pen.textAlign = "center";
  for (let t = Math.ceil(t0 / dt) * dt; t <= t1; t += dt) { if (t < -1e-9) continue; pen.moveTo(x(t), top); pen.lineTo(x(t), h - bottom); pen.fillText(t.toFixed(tens) + " s", Math.min(x(t), w - 20), h - 8); }
  pen.stroke();
  pen.save();
  pen.beginPath();
  pen.rect(left, top, w - left - right, h - top - bottom);
  pen.clip();
  pen.strokeStyle = css("--warn");
  pen.setLineDash([1, 3]);
  pen.beginPath();
  for (const m of marks) { pen.moveTo(x(m.time), top); pen.lineTo(x(m.time), h); }
  pen.stroke();
  pen.lineWidth = 1.8;
  let row = 0;
  const at = cursor < left ? NaN : t0 + (cursor - left) / (w - left - right) * span;
  for (const s of curves) {
    pen.strokeStyle = colour(s.style);
    pen.setLineDash(s.dash);
    pen.beginPath();
    let up = true, near = NaN, best = Infinity;
    // Of all samples in a column of pixels the first, the least, the greatest and the last are drawn: no peak is lost.
    let column = NaN, least = 0, most = 0, end = 0;
    const flush = () => { if (!Number.isNaN(column)) for (const p of [least, most, end]) pen.lineTo(column, y(p)); };
    s.each((t, v) => {
      if (t < t0 || t > t1) return;
      if (!Number.isFinite(v)) { flush(); [column, up] = [NaN, true]; return; }
      const px = Math.round(2 * x(t)) / 2;
      if (up || px !== column) {
        flush();
        if (up) pen.moveTo(px, y(v)); else pen.lineTo(px, y(v));
        [column, least, most] = [px, v, v];
      }
      [least, most, end] = [Math.min(least, v), Math.max(most, v), v];
      up = false;
      if (Math.abs(t - at) < best) { best = Math.abs(t - at); near = v; }
    });
    flush();
    pen.stroke();
    const value = Number.isNaN(at) ? s.newest : near, words = s.name + "  " + (Number.isFinite(value) ? value.toFixed(3) : "–") + " " + s.unit;
    const line = top + 12 + 16 * row++;
    pen.fillStyle = css("--card"); // the words stay readable above the curves
    pen.globalAlpha = 0.85;
    pen.textAlign = "left";
    pen.fillRect(left + 4, line - 8, 34 + pen.measureText(words).width, 16);
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.moveTo(left + 8, line);
    pen.lineTo(left + 32, line);
    pen.stroke();
    pen.fillStyle = colour(s.style);
    pen.fillText(words, left + 36, line + 4);
  }
  if (!Number.isNaN(at)) { pen.setLineDash([]); pen.strokeStyle = css("--soft"); pen.beginPath(); pen.moveTo(cursor, top); pen.lineTo(cursor, h - bottom); pen.stroke(); }
  pen.restore();
}
