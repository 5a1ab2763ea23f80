// Jog: a joint moves while a button or key is held. The server stops it 250 ms after the last message.
import { on, rig, send } from "./link.js";
import { notice } from "./main.js";

let timer = 0, button = null, share = 0.1, toward = 0, held = "";
export const setShare = (v) => { share = v; };
export const getShare = () => share;

// begin moves a joint; direction is -1 to 1, or a function that gives it each time.
export function begin(agent, joint, direction, by) {
  if (timer && button === by && held === agent + "/" + joint) { toward = direction; return; }
  end();
  if (rig.stale) { notice("jog: not sent, since the server is not heard"); return; }
  const a = rig.layout.agents[agent];
  [toward, held] = [direction, agent + "/" + joint];
  const go = () => { if (!send({ op: "jog", rig: a.rig, agent: a.name, joint: a.joints[joint].name, share: (typeof toward === "function" ? toward() : toward) * share, at: performance.now() })) end(); };
  timer = setInterval(go, 50);
  button = by;
  by?.classList.add("on");
  go();
}

export function end() {
  if (!timer) return;
  clearInterval(timer);
  timer = 0;
  button?.classList.remove("on");
  button = null;
  send({ op: "hold" });
}

// handle makes a button one that jogs while it is held; the arrow keys do the same while it, or its row, has the focus.
export function handle(b, agent, joint, direction) {
  b.addEventListener("pointerdown", (e) => { e.preventDefault(); b.focus(); b.setPointerCapture(e.pointerId); begin(agent, joint, direction, b); });
  for (const what of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) b.addEventListener(what, end);
  b.addEventListener("contextmenu", (e) => e.preventDefault());
  b.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" && e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
    e.preventDefault();
    if (!e.repeat) begin(agent, joint, e.key === "Enter" ? direction : e.key === "ArrowLeft" ? -1 : 1, b);
  });
  b.addEventListener("keyup", end);
}

addEventListener("blur", end);
document.addEventListener("visibilitychange", () => { if (document.hidden) end(); });
on("link", end);
on("stale", end);
on("jog", (m) => { end(); notice(m.error); });
