// STOP: asked for on every way at once, and what each joint answered. Nothing here needs the other modules' state.
import { $, el } from "./dom.js";
import { on, order, send } from "./link.js";

const patience = 500; // ms without an answer until it counts as not confirmed
let begun = 0, answered = true, timer = 0;

export function stop() {
  begun = performance.now();
  answered = false;
  send({ op: "stop" });
  order("stop").then((a) => { if (!a.lost) answer(a); });
  clearTimeout(timer);
  timer = setTimeout(() => { if (!answered) unsure("No answer for " + patience + " ms."); }, patience);
  $("stop").textContent = "…";
}

function open() {
  const d = $("stopped");
  if (!d.open) d.show(); // not modal: STOP in the head stays within reach
}

function unsure(note) {
  $("stopped").classList.add("unsure");
  $("verdict").textContent = "STOP NOT CONFIRMED – cut the power";
  $("verdictnote").textContent = note;
  $("stop").textContent = "STOP";
  open();
}

function answer(a) {
  const silent = a.joints.filter((j) => j.acknowledged !== true);
  if (answered && !silent.length && !a.error) return; // the other way's answer says the same
  answered = true;
  clearTimeout(timer);
  $("stop").textContent = "STOP";
  $("acks").replaceChildren(...a.joints.map((j) => el("tr", { class: j.acknowledged ? "" : "fault" },
    el("td", {}, j.agent + "/" + j.joint), el("td", {}, j.acknowledged ? "✓ torque off" : "✗ NO"), el("td", {}, j.fault ?? ""))));
  if (silent.length || a.error) {
    unsure(a.error || silent.length + " of " + a.joints.length + " joints did not acknowledge.");
    return;
  }
  $("stopped").classList.remove("unsure");
  $("verdict").textContent = "Stopped";
  $("verdictnote").textContent = a.joints.length + " of " + a.joints.length + " joints acknowledged torque off in " + a.ms.toFixed(1) +
    " ms; " + Math.round(performance.now() - begun) + " ms after the press. Latched until Reset, then Arm.";
  open();
}

on("answer", answer);
$("stopform").addEventListener("submit", (e) => { e.preventDefault(); stop(); });
$("stop").addEventListener("pointerdown", () => stop()); // before the click: the press counts
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
