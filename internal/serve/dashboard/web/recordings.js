// Recordings: what is in the folder, one of them scrubbed through, two of them compared.
import { colour, dashes, draw, left, right } from "./chart.js";
import { el, put, show, text } from "./dom.js";

// What is chosen stays when the page is left.
const sides = { a: null, b: null }; // what the server read of each, by side
const chosen = new Map(); // channel name → style
let at = 0, playing = 0, match = null, active = null; // the page that is open

async function fetched(path) {
  const r = await fetch(path);
  if (!r.ok) throw new Error((await r.text()).trim() || r.statusText);
  return r.json();
}

// load reads a recording: the rows of its channels are cut from one array of floats.
async function load(name) {
  const s = await fetched("/recording?" + new URLSearchParams({ name }));
  const bytes = Uint8Array.from(atob(s.values), (c) => c.charCodeAt(0)), all = new Float32Array(bytes.buffer), n = s.times.length;
  s.rows = new Map(s.channels.map((c, i) => [c, all.subarray(i * n, (i + 1) * n)]));
  s.begin = s.times[0] ?? 0; // where its time is 0 here, so that two runs lie above one another
  s.length = (s.times[n - 1] ?? 0) - s.begin;
  return s;
}

// index is the last sample at or before t.
function index(s, t) {
  let low = 0, high = s.times.length - 1;
  while (low < high) { const mid = (low + high + 1) >> 1; if (s.times[mid] - s.begin <= t + 1e-9) low = mid; else high = mid - 1; }
  return low;
}

const value = (s, name, t) => s && t <= s.length + 1e-6 ? s.rows.get(name)?.[index(s, t)] ?? NaN : NaN;
const short = (name) => name.replace("/measured.", "/");
const size = (n) => n < 1e6 ? (n / 1e3).toFixed(0) + " kB" : (n / 1e6).toFixed(1) + " MB";
const length = () => Math.max(sides.a?.length ?? 0, sides.b?.length ?? 0);

function about(s) {
  const parts = [s.rig + ", " + s.clock + ", recorded " + new Date(s.started).toLocaleString(), s.cycles + " cycles from number " + s.first_cycle + ", " + s.length.toFixed(2) + " s",
    "seed " + s.seed, "Halyard " + s.version];
  if (s.every > 1) parts.push("every " + s.every + "th cycle is shown");
  if (s.dropped_cycles) parts.push(s.dropped_cycles + " cycles dropped");
  if (s.lost_orders) parts.push(s.lost_orders + " orders lost");
  return parts.join("; ") + ".";
}

export function open(main) {
  let closed = false;
  const folder = el("p"), list = el("tbody"), note = el("p", { class: "fault", role: "status" }), facts = el("div");
  const clock = text("0.00 s"), mark = text();
  const slider = el("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "Time in the recording", oninput: () => { playing = 0; seek(Number(slider.value) / 1000 * length()); } });
  const play = el("button", { type: "button", onclick: () => { playing = playing ? 0 : performance.now(); if (playing && at >= length()) at = 0; } }, "Play");
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label": "Curves of the recording. Click to choose a time; arrow keys step." });
  const filter = el("input", { type: "search", placeholder: "Find channels", "aria-label": "Find channels", oninput: () => rows() });
  const values = el("tbody"), differences = el("div");
  const tools = el("div", { class: "tools scrub" }, play, slider, el("span", { class: "num" }, clock), el("span", { class: "mark" }, mark));
  const view = el("div", { class: "split" }, el("div", { class: "view" }, canvas),
    el("div", { class: "side" }, el("div", { class: "tools" }, filter),
      el("table", { class: "values" }, el("thead", {}, el("tr", {}, ...["Channel", "A", "B"].map((h, i) => el("th", { class: i ? "n" : "" }, h)))), values)));
  const body = el("div", { hidden: true }, facts, tools, view, differences);
  main.append(el("h2", {}, "Recordings"), folder,
    el("div", { class: "scroll short" }, el("table", { class: "files" }, el("thead", {}, el("tr", {}, ...["A", "B", "File", "Size", "Changed"].map((h, i) => el("th", { class: i === 3 ? "n" : "" }, h)))), list)), note, body);

  const pick = async (side, name) => {
    note.textContent = name ? "Reading " + name + " …" : "";
    try {
      const got = name ? await load(name) : null;
      sides[side] = got;
      match = null;
      if (sides.a && sides.b) { note.textContent = "Comparing …"; match = await fetched("/compare?" + new URLSearchParams({ a: sides.a.name, b: sides.b.name })); }
      note.textContent = "";
    } catch (e) {
      note.textContent = e.message;
      if (sides[side]?.name !== name) sides[side] = null;
    }
    active?.(note.textContent);
  };

  const refresh = (words = "") => {
    note.textContent = words;
    for (const r of list.querySelectorAll("input")) r.checked = r.value === (sides[r.name]?.name ?? "");
    const a = sides.a ?? sides.b;
    body.hidden = !a;
    if (!a) return;
    if (![...chosen.keys()].some((c) => a.rows.has(c))) {
      chosen.clear();
      for (const c of a.channels.filter((c) => /\/measured\..*\.?position$/.test(c)).slice(0, 3)) chosen.set(c, chosen.size);
    }
    facts.replaceChildren(...["a", "b"].filter((s) => sides[s]).flatMap((s) => [el("p", { class: "fact" }, el("b", {}, s.toUpperCase() + " " + sides[s].name), ": " + about(sides[s])),
      ...(sides[s].cut ? [el("p", { class: "fault" }, sides[s].cut)] : [])]));
    seek(Math.min(at, length()));
    rows();
    differences.replaceChildren(...(match ? compared() : []));
  };

  // compared is what differs, the first first.
  const compared = () => {
    const head = match.different === 0 && !match.rows.length ? "The states of the " + match.cycles + " cycles that both have are identical."
      : match.different + " of " + match.cycles + " cycles differ.";
    const parts = [el("h2", {}, "Differences"), el("p", {}, head + (match.offset_cycles ? " Each is counted from its first cycle." : "") + (match.ended ? " Not all were compared: " + match.ended + "." : ""))];
    if (!match.rows.length) return parts;
    const cells = (d) => [d.agent || "–", d.what, d.first_cycle, d.recorded, d.replayed, d.cycles, show(d.largest, 4), show(d.rms ?? NaN, 4)];
    parts.push(el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...["Agent", "Value", "First cycle", "A", "B", "Cycles", "Largest", "RMS"].map((h, i) => el("th", { class: i > 1 ? "n" : "" }, h)))),
      el("tbody", {}, ...match.rows.slice(0, 300).map((d) => el("tr", {}, ...cells(d).map((c, i) => el("td", { class: i > 1 ? "n" : "" }, i === 1
        ? el("button", { type: "button", class: "link", onclick: () => { if (sides.a?.rows.has(d.agent + "/" + d.what)) toggle(d.agent + "/" + d.what, true); seek((d.first_cycle - (sides.a?.first_cycle ?? 1)) * (sides.a?.period_s ?? 0)); } }, c) : c))))))));
    if (match.rows.length > 300) parts.push(el("p", {}, match.rows.length - 300 + " more"));
    return parts;
  };

  const toggle = (name, on) => {
    if (!on) chosen.delete(name);
    else if (!chosen.has(name)) {
      const used = new Set(chosen.values());
      chosen.set(name, [...dashes.keys()].find((i) => !used.has(i)) ?? chosen.size % dashes.length);
    }
    rows();
  };

  let cells = [];
  const rows = () => {
    const all = [...new Set([...(sides.a?.channels ?? []), ...(sides.b?.channels ?? [])])].filter((c) => c.toLowerCase().includes(filter.value.toLowerCase()))
      .sort((x, y) => chosen.has(y) - chosen.has(x) || (x < y ? -1 : 1));
    cells = all.slice(0, 200).map((name) => ({ name, a: text(), b: text() }));
    values.replaceChildren(...cells.map((c) => {
      const style = chosen.get(c.name), swatch = el("em", {}, style === undefined ? "" : "━ ");
      if (style !== undefined) swatch.style.color = colour(style);
      return el("tr", {}, el("td", {}, el("label", { class: "pick" }, el("input", { type: "checkbox", checked: style !== undefined, onchange: (e) => toggle(c.name, e.target.checked) }), swatch, short(c.name))),
        el("td", { class: "n" }, c.a), el("td", { class: "n" }, c.b));
    }));
    fill();
  };
  const fill = () => { for (const c of cells) { put(c.a, show(value(sides.a, c.name, at), 3)); put(c.b, show(value(sides.b, c.name, at), 3)); } };

  function seek(t) {
    at = Math.max(0, Math.min(length(), t));
    slider.value = length() ? 1000 * at / length() : 0;
    slider.setAttribute("aria-valuetext", at.toFixed(2) + " s");
    put(clock, at.toFixed(2) + " of " + length().toFixed(2) + " s");
    const told = (sides.a ?? sides.b)?.marks.filter((m) => m.time - (sides.a ?? sides.b).begin <= at + 1e-9).at(-1);
    put(mark, told ? Math.max(0, told.time - (sides.a ?? sides.b).begin).toFixed(2) + " s: " + told.text : "no event yet");
    fill();
  }

  const x = (e) => (e.offsetX - left) / (canvas.clientWidth - left - right) * length();
  canvas.addEventListener("pointerdown", (e) => { playing = 0; canvas.setPointerCapture(e.pointerId); seek(x(e)); });
  canvas.addEventListener("pointermove", (e) => { if (e.buttons) seek(x(e)); });
  canvas.addEventListener("keydown", (e) => {
    const by = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1, Home: -1, End: 1 }[e.key];
    if (by === undefined) return;
    e.preventDefault();
    playing = 0;
    seek(at + by * length());
  });

  (async () => {
    try {
      const got = await fetched("/recordings");
      if (closed) return;
      folder.replaceChildren(got.list.length ? "Choose A to look through a recording, and B to compare it with. Folder: " : "No recording in the folder ", el("code", {}, got.folder),
        got.list.length ? "" : " yet. Try: halyard serve --set record.file=run.mcap, or halyard record --out run.mcap");
      const radio = (side, name, label) => el("input", { type: "radio", name: side, value: name, checked: (sides[side]?.name ?? "") === name, "aria-label": label, onchange: () => pick(side, name) });
      const line = (a, b, ...rest) => el("tr", {}, el("td", {}, a), el("td", {}, b), ...rest);
      list.replaceChildren(...got.list.map((r) => line(radio("a", r.name, "A: " + r.name), radio("b", r.name, "B: " + r.name), el("td", {}, r.name + (r.growing ? " (being written)" : "")),
        el("td", { class: "n" }, size(r.bytes)), el("td", {}, new Date(r.modified).toLocaleString()))));
      if (got.list.length) list.append(line("", radio("b", "", "B: none"), el("td", {}, "nothing to compare"), el("td"), el("td")));
    } catch (e) { note.textContent = e.message; }
  })();
  active = refresh;
  refresh();

  const pen = canvas.getContext("2d");
  return {
    close() { closed = true; playing = 0; active = null; },
    draw(now) {
      if (body.hidden) return;
      if (playing) {
        seek(at + (now - playing) / 1000);
        playing = at >= length() ? 0 : now;
      }
      put(play.firstChild, playing ? "Pause" : "Play");
      const curves = [];
      for (const side of ["a", "b"]) {
        const s = sides[side];
        for (const [name, style] of s ? chosen : []) {
          const row = s.rows.get(name);
          if (row) curves.push({ name: (sides.a && sides.b ? side.toUpperCase() + " " : "") + short(name), unit: "", style, dash: side === "b" ? [6, 4] : [], newest: row[index(s, at)],
            each: (f) => { for (let i = 0; i < row.length; i++) f(s.times[i] - s.begin, row[i]); } });
        }
      }
      const w = canvas.clientWidth, span = length() || 1, first = sides.a ?? sides.b;
      draw(canvas, pen, { t0: 0, t1: span, curves, cursor: left + at / span * (w - left - right), marks: first.marks.slice(0, 200).map((m) => ({ time: m.time - first.begin })) });
    },
  };
}
