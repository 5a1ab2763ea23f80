// The frame of every page: what is shown in the head, the orders, and which page is seen.
import { $, el, put, text } from "./dom.js";
import "./stop.js"; // first: it works when the rest fails
import { connect, on, order, pull, rig, silence } from "./link.js";
import { advice, cause, pick } from "./rows.js";
import { switched, turn } from "./units.js";

const pages = ["robot", "joints", "plots", "buses", "events", "recordings"];
let page = null, shown = "", opened = 0;

let noticed = "", until = 0;
export function notice(message) {
  [noticed, until] = [message, performance.now() + 10000];
  line();
}

// faulty is the newest fault: robot, joint and cause.
let known = new Map(), faulty = null;
function faults() {
  const now = new Map();
  for (const [a, agent] of (rig.layout && rig.status?.agents || []).entries()) {
    for (const [name, fault] of Object.entries(agent.faults)) now.set(a + "/" + name, { a, name, fault, since: known.get(a + "/" + name)?.since ?? performance.now() });
  }
  known = now;
  faulty = [...now.values()].sort((x, y) => y.since - x.since)[0] ?? null;
}

const device = (f) => rig.layout.agents[f.a]?.joints.find((j) => j.name === f.name) ?? { body: rig.layout.agents[f.a]?.body };

// line is the message below the head: that all is old, an answer, or the newest fault. Its place is always reserved.
function line() {
  const fault = faulty && (rig.layout.agents[faulty.a]?.name ?? "") + "/" + faulty.name + ": " + cause(faulty.fault) + " (try: " + advice(device(faulty), faulty.fault) + ")";
  const words = rig.stale ? (rig.heard ? "Nothing heard from the server since " + rig.since + ": all values are old. STOP is sent all the same; not confirmed, cut the power." : "Nothing heard from the server yet.")
    : performance.now() < until ? noticed : fault || "";
  if ($("notice").textContent !== words) { $("notice").textContent = words; $("notice").title = words === fault ? faulty.fault : words; }
  $("notice").classList.toggle("fault", rig.stale || words === fault);
  $("showjoint").disabled = !faulty || rig.stale;
}
on("status", faults);
$("showjoint").addEventListener("click", () => {
  const i = faulty ? rig.layout.agents[faulty.a].joints.findIndex((j) => j.name === faulty.name) : -1;
  if (i >= 0) pick(faulty.a, i);
  location.hash = "robot";
});

async function open() {
  const name = pages.includes(location.hash.slice(1)) ? location.hash.slice(1) : "robot";
  if (name === shown && page) return;
  shown = name;
  const turn = ++opened;
  page?.close?.();
  page = null;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === "#" + name) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const main = $("page");
  main.replaceChildren();
  main.dataset.page = name;
  try {
    const module = await import("./" + name + ".js");
    if (turn === opened) page = module.open(main); // else another one has been opened meanwhile
  } catch (e) {
    main.replaceChildren(el("p", { class: "fault" }, "This page does not work here: " + e.message + ". STOP does."));
  }
}

const words = { sim: "SIM", emulated: "EMULATED", real: "REAL", mixed: "MIXED" };
const link = text(), loop = text(), holder = text(), torque = text();
$("link").replaceChildren(link);
$("loop").replaceChildren(loop);
$("holder").replaceChildren(holder);
$("torque").replaceChildren(torque);

function head() {
  if (!rig.layout) return;
  const bodies = new Set(rig.layout.agents.map((a) => a.body));
  const body = bodies.size > 1 ? (bodies.has("real") || bodies.has("mixed") ? "mixed" : "emulated") : [...bodies][0] ?? "sim";
  const names = rig.layout.rigs.map((r) => r.name).join(", ");
  $("rig").textContent = $("rig").title = names;
  $("body").textContent = words[body];
  $("body").className = "badge " + body;
  document.title = words[body] + " " + names + " – Halyard";
  const colour = { sim: "%230b62a4", emulated: "%2300694c", real: "%23d55e00", mixed: "%23d55e00" }[body];
  document.querySelector("link[rel=icon]").href =
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='3' fill='" + colour + "'/></svg>";
}

// torqued is how many joints have a command, of all.
const has = (a) => a.joints.filter((j, i) => j.modes[rig.values[a.goals + 3 * i + 1]]).length;
const torqued = () => rig.layout.agents.reduce((n, a) => n + has(a), 0) + "/" + rig.layout.agents.reduce((n, a) => n + a.joints.length, 0);

function state() {
  const chip = $("state");
  const set = (words, kind) => { if (chip.textContent !== words) chip.textContent = words; if (chip.className !== "chip " + kind) chip.className = "chip " + kind; };
  if (!rig.linked) { set("no link", "bad"); return; }
  if (rig.stale) { set("silent " + silence(), "bad"); return; }
  const s = rig.status;
  if (!s) return;
  const faults = s.agents.reduce((n, a) => n + Object.keys(a.faults).length, 0);
  const states = new Set(s.agents.map((a) => a.state));
  if (rig.stopped) set("STOPPED", "bad");
  else if (faults) set(faults + (faults > 1 ? " faults" : " fault"), "bad");
  else if (states.size > 1) set([...states].join(", "), "warn");
  else set([...states][0] || "no robots yet", [...states][0] ?? "");
  const held = [...new Set(s.agents.map((a) => a.holder).filter(Boolean))];
  put(holder, held.length ? "held by " + held.join(", ") : "");
  put(torque, rig.values ? torqued() + " with torque" : "");
  const r = s.rigs[0];
  put(loop, !r.ticks ? "lock-step with its clients" : "cycle p99 " + r.work_p99_us.toFixed(0) + " µs, missed " + r.missed);
}

on("layout", head);
on("status", state);
on("link", state);
on("frame", state);
on("stale", () => {
  document.body.classList.toggle("stale", rig.stale);
  for (const b of document.querySelectorAll("#orders button, #armyes")) b.setAttribute("aria-disabled", rig.stale);
  state();
  line();
});
on("layout", () => { const p = page; page = null; p?.close?.(); shown = ""; open(); });

let lined = 0, since = 0, frames = 0, bytes = 0;
function draw(now) {
  requestAnimationFrame(draw);
  pull();
  try { page?.draw?.(now); } catch (e) { console.error(e); notice("draw: " + e.message); page = null; }
  if (rig.stale) state();
  if (now - lined > 200) { lined = now; line(); }
  if (now - since > 1000) {
    const rate = (rig.frames - frames) / (now - since) * 1000, kilo = (rig.bytes - bytes) / (now - since);
    put(link, rig.linked ? "link " + rate.toFixed(0) + " Hz, " + kilo.toFixed(0) + " kB/s" : "no link");
    [since, frames, bytes] = [now, rig.frames, rig.bytes];
  }
}

async function act(name) {
  if (rig.stale) { notice(name + ": not sent, since the server is not heard"); return; }
  const a = await order(name + "?seen=" + rig.wall);
  notice(a.error ? name + ": " + a.error : name + ": done");
}
$("reset").addEventListener("click", () => act("reset"));
$("disarm").addEventListener("click", () => act("disarm"));
// The box about arming: STOP alone stays within reach beside it.
const asked = (open) => { for (const e of [$("page"), $("orders"), document.querySelector("nav")]) e.inert = open; };
function robots() { // what arming does, a line a robot
  $("armrobots").replaceChildren(...rig.layout.agents.map((a, i) => {
    const s = rig.status?.agents[i];
    return el("li", {}, el("b", {}, a.name + " "), el("span", { class: a.body }, words[a.body] ?? a.body), ": " +
      (s?.holder ? s.holder + " holds it: its next command gives torque and moves it" : "no client holds it: the first command gives torque, from any client or a jog") +
      (has(a) ? ". " + has(a) + " of " + a.joints.length + " joints have torque now" : ""));
  }));
}
$("arm").addEventListener("click", () => {
  if (rig.stale || !rig.layout) return act("arm");
  if (rig.stopped) return notice("arm: the emergency stop is latched (try: Reset, then Arm)");
  robots();
  $("armask").show();
  asked(true);
});
on("status", () => { if ($("armask").open) robots(); });
$("armask").addEventListener("close", () => asked(false));
$("armno").addEventListener("click", () => $("armask").close());
$("armyes").addEventListener("click", () => { $("armask").close(); act("arm"); });

const theme = (name) => { document.documentElement.dataset.theme = name; };
const wanted = new URLSearchParams(location.search).get("theme");
theme(wanted ?? localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  theme(next);
  localStorage.setItem("theme", next);
});

const units = () => { $("units").textContent = switched(); };
units();
$("units").addEventListener("click", () => { turn(); units(); page?.close?.(); page = null; shown = ""; open(); });

addEventListener("keydown", (e) => { // Space stops: Enter ticks a box
  if (e.key === "Enter" && e.target instanceof HTMLInputElement && ["checkbox", "radio"].includes(e.target.type)) e.target.click();
});
addEventListener("hashchange", open);
addEventListener("keydown", (e) => {
  const n = "123456".indexOf(e.key);
  if (n >= 0 && !(e.target instanceof HTMLInputElement) && !e.ctrlKey && !e.altKey && !e.metaKey) location.hash = pages[n];
});
connect();
open();
requestAnimationFrame(draw);
