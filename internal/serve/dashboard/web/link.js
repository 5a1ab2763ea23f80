// The connection: it asks for a frame when the browser is about to draw, and keeps the newest values.

export const rig = {
  layout: null,   // the server's text
  values: null,   // Float32Array, in the layout's order
  times: [],      // s, one a rig
  status: null,
  events: new Map(), // by id
  frames: 0, bytes: 0, wall: 0,
  linked: false, heard: 0, // ms by now(), of the newest frame
  stale: true,    // no frame for limit: all that is shown is old
  stopped: false, answered: false, // a stop is latched; its answer is known
  now: () => performance.now(), // a test has its own
};
const limit = 300; // ms

// silence is how long nothing was heard, as text.
export const silence = () => ((rig.now() - rig.heard) / 1000).toFixed(1) + " s";

const listeners = {};
export const on = (what, f) => { (listeners[what] ??= []).push(f); };
export const emit = (what, v) => { for (const f of listeners[what] ?? []) f(v); };

let socket = null, waiting = false, asked = -1000;
const interval = 33; // ms between two frames: more would cost the rig's computer, and no eye sees it

function apply(buffer) {
  const view = new DataView(buffer);
  if (view.getUint8(0) !== 1 || !rig.layout || view.getUint32(4, true) !== rig.layout.generation) return;
  rig.heard = rig.now();
  rig.stopped = (view.getUint8(1) & 1) > 0;
  rig.answered = (view.getUint8(1) & 2) > 0;
  const rigs = view.getUint16(2, true);
  rig.wall = view.getFloat64(8, true);
  for (let i = 0; i < rigs; i++) rig.times[i] = view.getFloat64(16 + 8 * i, true);
  for (let at = 16 + 8 * rigs; at + 8 <= buffer.byteLength;) {
    const first = view.getUint32(at, true), count = view.getUint32(at + 4, true);
    rig.values.set(new Float32Array(buffer, at + 8, count), first);
    at += 8 + 4 * count;
  }
  rig.frames++;
  rig.bytes += buffer.byteLength;
  check();
  emit("frame");
}

// check notices that the server is not heard any more, or is again.
function check() {
  const stale = !rig.linked || rig.now() - rig.heard > limit;
  if (stale === rig.stale) return;
  rig.stale = stale;
  if (stale) rig.since = new Date(Date.now() - (rig.now() - rig.heard)).toLocaleTimeString("en-GB");
  emit("stale");
}
setInterval(() => { if (!document.hidden) pull(); check(); }, 50); // a browser that draws slowly hears all the same

function receive(data) {
  if (typeof data !== "string") {
    waiting = false;
    apply(data);
    return;
  }
  rig.bytes += data.length;
  const m = JSON.parse(data);
  switch (m.op) {
    case "layout":
      rig.layout = m;
      rig.values = new Float32Array(m.length).fill(NaN);
      break;
    case "status": rig.status = m; break;
    case "events":
      for (const e of m.list) rig.events.set(e.id, e);
      for (const id of rig.events.keys()) { if (rig.events.size <= 500) break; rig.events.delete(id); }
      break;
  }
  emit(m.op, m);
}

export function connect() {
  const s = new WebSocket(location.origin.replace(/^http/, "ws") + "/ws");
  s.binaryType = "arraybuffer";
  s.onopen = () => { socket = s; rig.linked = true; waiting = false; emit("link"); };
  s.onmessage = (e) => receive(e.data);
  s.onclose = () => {
    if (socket === s) socket = null;
    rig.linked = false;
    check();
    emit("link");
    setTimeout(connect, 1000);
  };
}

// send reports whether there was a link. What cannot be sent now is never sent later.
export function send(m) {
  if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > 16384) return false;
  socket.send(JSON.stringify(m));
  return true;
}

// pull asks for the next frame unless one is under way.
export function pull() {
  const since = performance.now() - asked;
  if (since < (waiting ? 1000 : interval - 8)) return; // 8: a browser draws at its own times
  if (send({ op: "next" })) { waiting = true; asked = performance.now(); }
}

// tamper plants a fault in an emulated servo.
export const tamper = (what) => order("fault?" + new URLSearchParams(what));

// order posts a person's order; the answer is the server's, or has an error.
export async function order(name) {
  try {
    const r = await fetch("/" + name, { method: "POST", headers: { Accept: "application/json" }, signal: AbortSignal.timeout(5000) });
    const body = await r.text();
    try { return JSON.parse(body); } catch { return { order: name, error: body.trim() || r.statusText, joints: [] }; }
  } catch (e) {
    return { order: name, error: String(e), joints: [], lost: true };
  }
}
