// STOP: asked for on every way at once, and what each joint answered. Nothing here needs the other modules' state.
import { $, el, split } from "./dom.js";
import { on, order, rig, send } from "./link.js";

const patience = 500; // ms without an answer until it counts as not confirmed
// What the box is about: a press without an answer yet, or without one for too long; an answer; a stop of another door.
let mode = "", begun = 0, timer = 0, took = "", id = 0, at = 0;

export function stop() {
  begun = performance.now();
  [mode, took] = ["pending", ""];
  show("Stopping …", "No joint has acknowledged this stop yet.");
  $("armask").close();
  send({ op: "stop" });
  order("stop").then((a) => { if (!a.lost) answer(a); });
  clearTimeout(timer);
  timer = setInterval(lost, patience);
  $("stop").textContent = "…";
}

// show writes the verdict. Acknowledgements of an earlier stop never stand under it.
function show(verdict, note, joints = [], red = false) {
  $("stopped").classList.toggle("unsure", red);
  $("verdict").textContent = verdict;
  $("verdictnote").textContent = note;
  $("acks").replaceChildren(...joints.map((j) => el("tr", { class: j.acknowledged ? "" : "fault" },
    el("td", {}, j.agent + "/" + j.joint), el("td", {}, j.acknowledged ? "✓ torque off" : "✗ NO: cut its power" + (j.fault ? ". " + split(j.fault)[0] : "")))));
  $("acks").closest("div").hidden = !joints.length;
}

function open() {
  const d = $("stopped");
  if (!d.open) d.show(); // not modal: STOP in the head stays within reach
  $("armask").close();
}

// lost is called until a press has its answer.
function lost() {
  const known = rig.stale ? "Nothing heard from the server since " + rig.since + "." : rig.stopped ? "The stop is latched; which joints acknowledged is not known." : "The robots are NOT stopped: press STOP again.";
  show("STOP NOT CONFIRMED – cut the power", "No answer for " + ((performance.now() - begun) / 1000).toFixed(1) + " s. " + known, [], true);
  $("stop").textContent = "STOP";
  if (mode === "pending") open();
  mode = "lost";
}

// elsewhere is a stop whose answer another program has.
function elsewhere() {
  const reasons = new Set(rig.status?.agents.filter((a) => a.state === "stopped").map((a) => a.reason));
  show("Stopped elsewhere", "Latched" + (reasons.size ? ": " + [...reasons].join("; ") : "") + ". Which joints acknowledged is not known here: STOP again asks each.");
  if (mode !== "elsewhere") open();
  mode = "elsewhere";
}

function answer(a) {
  if (a.id <= id) return; // by the other way, or older
  [id, at] = [a.id ?? id, a.at ?? at];
  clearInterval(timer);
  $("stop").textContent = "STOP";
  if (mode === "pending" || mode === "lost") took = ", " + Math.round(performance.now() - begun) + " ms after the press";
  const silent = a.joints.filter((j) => j.acknowledged !== true), of = a.joints.length;
  if (silent.length || a.error) show("STOP NOT CONFIRMED – cut the power", a.error || silent.length + " of " + of + " joints did not acknowledge.", a.joints, true);
  else show("Stopped", of + " of " + of + " joints acknowledged torque off in " + a.ms.toFixed(1) + " ms" + (took || ", asked for on another page") +
    ", at " + new Date(a.at).toLocaleTimeString("en-GB") + ". Latched until Reset, then Arm.", a.joints);
  mode = "answer";
  open();
}

// A frame says whether a stop is latched, and whether the newest answer is of it.
on("frame", () => {
  if (rig.wall <= at || mode === "pending" || mode === "lost") return;
  if (!rig.stopped && mode) { // reset, here or elsewhere
    mode = took = "";
    $("stopped").close();
  } else if (rig.stopped && !rig.answered) elsewhere();
});
$("stopped").addEventListener("close", () => { // a person has read that there was no answer
  if (mode !== "lost") return;
  clearInterval(timer);
  mode = "";
});
on("link", () => { id = 0; }); // another server counts from 1

on("answer", answer);
$("stopform").addEventListener("submit", (e) => { e.preventDefault(); stop(); });
$("stop").addEventListener("pointerdown", stop); // before the click: the press counts
$("stop").addEventListener("click", (e) => { e.preventDefault(); if (performance.now() - begun > 300) stop(); });
$("stopagain").addEventListener("click", stop);
$("closestop").addEventListener("click", () => $("stopped").close());
addEventListener("keydown", (e) => { if (e.key === "Escape") for (const d of document.querySelectorAll("dialog[open]")) d.close(); });
addEventListener("keydown", (e) => {
  const typing = e.target instanceof HTMLInputElement && ["text", "search", "password"].includes(e.target.type);
  if (e.code !== "Space" || typing) return;
  e.preventDefault();
  e.stopImmediatePropagation();
  if (!e.repeat) stop();
}, true);
addEventListener("keyup", (e) => { // a button in focus would take it for a click
  if (e.code === "Space" && !(e.target instanceof HTMLInputElement)) e.preventDefault();
}, true);
