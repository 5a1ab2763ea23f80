// Sensors as pictures: a scan seen from above, an artificial horizon, depth, a battery; the rest as numbers.
import { css, el, put, show, text } from "./dom.js";
import { rig } from "./link.js";
import { tell } from "./units.js";

// size makes a small canvas sharp and clears it.
function sheet(canvas) {
  const scale = Math.min(devicePixelRatio || 1, 2), w = 150, h = 110, pen = canvas.getContext("2d");
  if (canvas.width !== w * scale) { canvas.width = w * scale; canvas.height = h * scale; }
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.fillStyle = css("--back");
  pen.fillRect(0, 0, w, h);
  return [pen, w, h];
}

// scan is a polar picture: ahead is up.
function scan(canvas, values, fov, far) {
  const [pen, w, h] = sheet(canvas), x = w / 2, y = fov > Math.PI ? h / 2 : h - 12, r = fov > Math.PI ? h / 2 - 4 : h - 18;
  pen.strokeStyle = css("--line");
  for (const k of [0.33, 0.66, 1]) { pen.beginPath(); pen.arc(x, y, k * r, -Math.PI / 2 - fov / 2, -Math.PI / 2 + fov / 2); pen.stroke(); }
  pen.fillStyle = pen.strokeStyle = css("--accent");
  pen.beginPath();
  values.forEach((d, i) => {
    if (!Number.isFinite(d)) return;
    const a = -Math.PI / 2 + fov / 2 - i * fov / Math.max(1, values.length - 1), k = Math.min(1, d / far) * r;
    pen.rect(x + k * Math.cos(a) - 1, y + k * Math.sin(a) - 1, 2, 2);
  });
  pen.fill();
  pen.fillStyle = css("--text");
  pen.beginPath();
  pen.moveTo(x, y - 7); pen.lineTo(x + 4, y + 4); pen.lineTo(x - 4, y + 4);
  pen.fill();
}

// horizon is roll, pitch and heading, rad.
function horizon(canvas, roll, pitch, heading) {
  const [pen, w, h] = sheet(canvas), r = 42, x = w / 2, y = 48;
  pen.save();
  pen.beginPath(); pen.arc(x, y, r, 0, 2 * Math.PI); pen.clip();
  pen.translate(x, y);
  if (Number.isFinite(roll + pitch)) {
    pen.rotate(-roll);
    const at = pitch * 180 / Math.PI * 1.2;
    pen.fillStyle = "#2b7fc4"; pen.fillRect(-90, -160 + at, 180, 160);
    pen.fillStyle = "#86592b"; pen.fillRect(-90, at, 180, 160);
    pen.strokeStyle = "#fff";
    pen.beginPath();
    for (const k of [-20, -10, 0, 10, 20]) { const l = k ? 10 : 60; pen.moveTo(-l, at - 1.2 * k); pen.lineTo(l, at - 1.2 * k); }
    pen.stroke();
  }
  pen.restore();
  pen.strokeStyle = "#f2c200"; pen.lineWidth = 3;
  pen.beginPath(); pen.moveTo(x - 22, y); pen.lineTo(x - 7, y); pen.moveTo(x + 7, y); pen.lineTo(x + 22, y); pen.stroke();
  pen.lineWidth = 1; pen.fillStyle = css("--text"); pen.font = "12px system-ui, sans-serif"; pen.textAlign = "center";
  if (Number.isFinite(heading)) pen.fillText("heading " + show((heading * 180 / Math.PI + 360) % 360, 0) + "°", x, h - 5);
}

// column is one value in its range: a depth from above, a battery from below.
function column(canvas, share, down) {
  const [pen, w, h] = sheet(canvas), x = w / 2 - 22, top = 8, high = h - 16;
  pen.strokeStyle = css("--edge"); pen.strokeRect(x, top, 44, high);
  if (!Number.isFinite(share)) return;
  const k = Math.max(0, Math.min(1, share)) * high;
  pen.fillStyle = down ? css("--sim") : share < 0.2 ? css("--alarm") : css("--emulated");
  pen.fillRect(x + 1, down ? top : top + high - k, 42, k);
  pen.strokeStyle = css("--text");
  pen.beginPath(); pen.moveTo(x - 6, down ? top + k : top + high - k); pen.lineTo(x + 50, down ? top + k : top + high - k); pen.stroke();
}

// angles are roll, pitch and yaw of the channels of a sensor: angles by name, or a quaternion w x y z.
const quaternion = /(^|[/_])(q?)w(_orientation)?$/;
function angles(names, v) {
  const of = (...words) => { const i = names.findIndex((n) => words.some((w) => n === w || n.endsWith("/" + w) || n.endsWith("_" + w))); return i < 0 ? NaN : v[i]; };
  const name = names.find((n) => quaternion.test(n));
  let [roll, pitch, yaw] = [of("roll"), of("pitch"), of("yaw", "heading")];
  if (name) {
    const [w, x, y, z] = ["w", "x", "y", "z"].map((k) => v[names.indexOf(name.replace(quaternion, "$1$2" + k + "$3"))]);
    [roll, pitch, yaw] = [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x)))), Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))];
  }
  return [roll, pitch, yaw];
}

// one is a sensor's picture, or null where numbers say as much.
function one(agent, s) {
  const channels = agent.channels.slice(s.first, s.first + s.count), names = channels.map((c) => c.name.toLowerCase()), what = (s.kind + " " + s.name).toLowerCase();
  const values = () => rig.values.subarray(agent.first + s.first, agent.first + s.first + s.count), caption = text();
  const canvas = el("canvas", { role: "img", "aria-label": s.name });
  let draw;
  if (s.count > 2 && ["range", "sonar", "infrared"].includes(s.kind)) {
    const far = Math.min(30, Math.max(...channels.map((c) => c.max ?? 5)));
    draw = () => { scan(canvas, values(), s.fov ?? Math.PI, far); put(caption, s.name + ": nearest " + show(Math.min(...[...values()].filter(Number.isFinite), Infinity)) + " m"); };
  } else if (names.some((n) => /roll$/.test(n) || quaternion.test(n))) {
    draw = () => { const [roll, pitch, yaw] = angles(names, values()); horizon(canvas, roll, pitch, yaw); put(caption, s.name + ": roll " + tell(roll, "rad") + ", pitch " + tell(pitch, "rad")); };
  } else if (/depth|battery|voltage|charge/.test(what) && s.count) {
    const c = channels[0], down = /depth/.test(what), low = c.min ?? 0, high = c.max ?? low + 1;
    draw = () => { const v = values()[0]; column(canvas, (v - low) / (high - low), down); put(caption, s.name + ": " + tell(v, c.unit)); };
  } else return null;
  return { figure: el("figure", {}, canvas, el("figcaption", {}, caption)), draw };
}

export function pictures() {
  const box = el("div"), figures = el("div", { class: "sensors" }), numbers = el("dl"), all = [];
  for (const agent of rig.layout?.agents.slice(0, 4) ?? []) {
    for (const s of agent.sensors) {
      const p = one(agent, s);
      if (p) { figures.append(p.figure); all.push(p.draw); } else if (s.count <= 8) {
        const t = text();
        numbers.append(el("dt", {}, s.name), el("dd", {}, t));
        all.push(() => put(t, agent.channels.slice(s.first, s.first + s.count).map((c, i) => c.unit === "m" ? show(rig.values[agent.first + s.first + i]) + " m" : tell(rig.values[agent.first + s.first + i], c.unit)).join("  ")));
      }
    }
  }
  if (all.length) box.append(el("h2", {}, "Sensors"), figures, numbers);
  let last = 0;
  return { box, draw() {
    if (rig.frames === last || !rig.values) return;
    last = rig.frames;
    for (const f of all) f();
  } };
}
