// Robot: the bodies of the physics in three dimensions; a click picks a joint.
import { el, put, split, text } from "./dom.js";
import { on, rig, send, tamper } from "./link.js";
import { notice } from "./main.js";
import { read, says, speed } from "./joints.js";
import { advice, cause, chosen, list, pick, toward } from "./rows.js";
import { end } from "./jog.js";
import { pictures as sensorPictures } from "./sensors.js";
import { force, shownAs, tell, way } from "./units.js";
import { Camera, Renderer, solid, stride, terrain } from "./gl.js";

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
// Colours that the colour-blind tell apart, by lightness too.
const kinds = { sim: rgb("#4aa3df"), emulated: rgb("#1b8f6a"), real: rgb("#f08a24") };
// What a model gives no colour of its own is drawn in two tones, so that its links are told apart.
const tones = [rgb("#e9e4d8"), rgb("#5d6b7d")];
const alarm = rgb("#d4142c"), accent = rgb("#2f8fee");
const camera = new Camera(); // stays when the page is left
// touched: a person has moved the camera since it was fitted; until then it is fitted again to what comes.
let framed = false, touched = false, followed = "", shownPage = null;
on("pick", () => shownPage?.picked());

// turn and place are the vector v in the pose p, seven numbers from i on: x y z, w x y z.
function place(p, i, v) {
  const w = p[i + 3], x = p[i + 4], y = p[i + 5], z = p[i + 6];
  const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
  return [p[i] + v[0] + w * tx + y * tz - z * ty, p[i + 1] + v[1] + w * ty + z * tx - x * tz, p[i + 2] + v[2] + w * tz + x * ty - y * tx];
}

// compose writes the pose a (from i on) times b as three rows of a matrix to out.
function compose(a, i, b, out, at) {
  const aw = a[i + 3], ax = a[i + 4], ay = a[i + 5], az = a[i + 6], bw = b[3], bx = b[4], by = b[5], bz = b[6];
  const w = aw * bw - ax * bx - ay * by - az * bz, x = aw * bx + ax * bw + ay * bz - az * by, y = aw * by - ax * bz + ay * bw + az * bx, z = aw * bz + ax * by - ay * bx + az * bw;
  const s = 2 / (w * w + x * x + y * y + z * z);
  const p = place(a, i, b);
  out[at] = 1 - s * (y * y + z * z); out[at + 1] = s * (x * y - w * z); out[at + 2] = s * (x * z + w * y); out[at + 3] = p[0];
  out[at + 4] = s * (x * y + w * z); out[at + 5] = 1 - s * (x * x + z * z); out[at + 6] = s * (y * z - w * x); out[at + 7] = p[1];
  out[at + 8] = s * (x * z - w * y); out[at + 9] = s * (y * z + w * x); out[at + 10] = 1 - s * (x * x + y * y); out[at + 11] = p[2];
}

const origin = [0, 0, 0, 1, 0, 0, 0];
const meshes = { sphere: "sphere", capsule: "sphere", cylinder: "cylinder", box: "box", plane: "square" };

export function open(main) {
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label": "The robots in three dimensions. Arrow keys turn, plus and minus zoom. The page Joints has all values as text." });
  const follow = el("select", { "aria-label": "Follow", onchange: () => { followed = follow.value; framed = touched = false; } });
  const rays = el("input", { type: "checkbox", checked: true }), touches = el("input", { type: "checkbox", checked: true }), hand = el("input", { type: "checkbox" });
  const plain = el("input", { type: "checkbox", onchange: () => build() }), missing = el("p");
  const meshed = el("div", { hidden: true }, el("label", { title: "In place of the meshes of the URDF" }, plain, " shapes of the physics"));
  const side = el("div", { class: "side" }), note = el("p");
  const kindsShown = new Set(rig.layout?.agents.flatMap((a) => a.joints.length ? a.joints.map((j) => j.body) : [a.body]));
  const legend = el("div", { class: "legend" }, ...[["sim", "◇ simulated"], ["emulated", "◈ emulated"], ["real", "◆ real"]].filter(([k]) => kindsShown.has(k)).map(([k, t]) => el("span", { class: k }, t)));
  if (rig.layout?.agents.some((a) => a.ghost >= 0)) legend.append(el("span", {}, "◌ twin"));
  const look = (name, set) => el("button", { type: "button", onclick: () => { set(); framed = touched = false; dirty = true; } }, name);
  const over = el("div", { class: "over" }, look("Fit", () => {}), look("Top", () => { camera.pitch = 1.57; camera.yaw = -Math.PI / 2; }), look("Side", () => { camera.pitch = 0.1; camera.yaw = -Math.PI / 2; }),
    follow, el("details", {}, el("summary", {}, "View"), el("label", {}, rays, " sensor rays"), el("label", {}, touches, " contacts"), el("label", { title: "Dragging a link pushes it, in the physics" }, hand, " hand: drag pushes a link"), meshed));
  const tags = el("div", {}), rows = list(), senses = sensorPictures();
  main.append(el("div", { class: "split robot" }, el("div", { class: "view" }, canvas, tags, over, legend), side));
  const details = el("div", { class: "details" }), pictures = el("details", { class: "pictures", open: (rig.layout?.agents.length ?? 0) < 3 }, el("summary", {}, "Cameras"));
  side.append(el("div", { class: "rowhead" }, el("h2", {}, "Joints"), rows.chooser, speed()), rows.box, details, note, missing, senses.box);
  if (rig.layout?.agents.some((a) => a.cameras.length)) side.append(pictures);
  // A camera costs the rig's computer a picture ten times a second: only those that are asked for.
  for (const a of rig.layout?.agents ?? []) {
    for (const c of a.cameras) {
      const image = el("img", { alt: "camera " + a.name + "/" + c, title: "Click: large or small", hidden: true, onclick: () => image.classList.toggle("full") });
      const show = el("input", { type: "checkbox", onchange: () => {
        image.hidden = !show.checked;
        if (show.checked) image.src = "/camera?" + new URLSearchParams({ rig: a.rig, agent: a.name, camera: c }); else image.removeAttribute("src");
      } });
      pictures.append(el("label", { class: "pick" }, show, "camera " + a.name + "/" + c), image);
    }
  }

  let renderer = null;
  try { renderer = new Renderer(canvas); } catch (e) { note.textContent = "No 3D here: " + e.message + ". The other pages work."; }

  let scene = null, batches = [], ids = [], dirty = true, alive = true;
  const times = []; // ms of work a frame

  async function load() {
    const r = await fetch("/scene");
    const got = await r.json();
    if (!alive || !rig.layout || got.generation !== rig.layout.generation) return; // another layout follows
    scene = got;
    build();
    const names = rig.layout.agents.map((a) => a.name);
    follow.replaceChildren(el("option", { value: "" }, "follow nothing"), ...names.map((n) => el("option", { value: n, selected: n === followed }, "follow " + n)));
    loadMeshes(got);
    if (!got.rigs.some((r) => r.shapes.length)) note.textContent = "These robots have no shapes: their model is joints alone. The page Joints shows them.";
  }

  // loadMeshes reads the meshes of URDFs. Until one is there, and where it cannot be read, the shapes of the physics are drawn.
  async function loadMeshes(of) {
    meshed.hidden = !of.meshes.length;
    for (const [i, name] of of.meshes.entries()) {
      const r = await fetch("/mesh?" + new URLSearchParams({ generation: of.generation, mesh: i })).catch((e) => ({ ok: false, text: async () => name + ": " + e.message }));
      const got = r.ok ? solid(await r.arrayBuffer()) : null, fault = r.ok ? "" : await r.text();
      if (!alive || scene !== of) return;
      if (got) { renderer.mesh("mesh" + i, got); build(); } else missing.append(el("span", {}, "Not drawn: " + fault), el("br"));
      meshed.dataset.read = i + 1;
    }
  }

  // drawn are the solids of a rig to draw: looks in place of the shapes of their group, once all its meshes are there.
  function drawn(r) {
    const there = (s) => s.kind !== "mesh" || renderer.meshes.has("mesh" + (s.mesh ?? 0));
    const dressed = new Set(plain.checked ? [] : r.looks.map((s) => s.group)), waiting = new Set(r.looks.filter((s) => !there(s)).map((s) => s.group));
    const worn = (s) => s.group && dressed.has(s.group) && !waiting.has(s.group);
    return [...r.shapes.filter((s) => !worn(s)), ...r.looks.filter(worn)];
  }

  // build sorts the shapes by their meshes.
  function build() {
    const groups = new Map();
    ids = [null];
    const add = (mesh, item, ground = false, ghost = false) => {
      const key = mesh + ground + ghost;
      if (!groups.has(key)) groups.set(key, { mesh, ground, ghost, items: [] });
      groups.get(key).items.push(item);
    };
    for (const [k, r] of scene.rigs.entries()) {
      for (const s of drawn(r)) {
        const body = s.body < 0 ? null : r.bodies[s.body];
        const plain = s.colour.every((c) => c === 0.6), own = body?.agent && plain ? tones[s.body % 2] : s.colour;
        const colour = kindsShown.size > 1 && kinds[body?.kind] ? kinds[body.kind].map((c, i) => 0.55 * c + 0.45 * own[i]) : own; // which link is real must be seen where they are mixed
        let size = [1, 1, 1, 0], mesh = meshes[s.kind];
        const h = s.half ?? [0, 0, 0], radius = s.r ?? 0;
        switch (s.kind) {
          case "sphere": size = [radius, radius, radius, 0]; break;
          case "capsule": size = [radius, radius, radius, h[2]]; break;
          case "cylinder": size = [radius, radius, h[2], 0]; break;
          case "box": size = [...h, 0]; break;
          case "plane": size = [200, 200, 1, 0]; camera.floor = s.at[2]; break;
          case "mesh": mesh = "mesh" + (s.mesh ?? 0); break;
          case "field":
            mesh = "field" + k + "." + r.shapes.indexOf(s);
            if (!renderer.meshes.has(mesh)) renderer.mesh(mesh, terrain(s.field));
            break;
          default: continue;
        }
        let id = 0;
        if (body?.agent) { ids.push({ rig: k, body: s.body }); id = ids.length - 1; }
        const agent = body?.agent && rig.layout.agents.find((a) => a.rig === k && a.name === body.agent);
        const link = agent && agent.ghost >= 0 ? agent.links.indexOf(s.body) : -1;
        if (link >= 0) add(mesh, { rig: k, body: -2, pose: agent.ghost + 7 * link, at: s.at, size, colour: [0.95, 0.95, 1], id: 0 }, false, true);
        const aim = agent && agent.aim >= 0 ? agent.links.indexOf(s.body) : -1;
        if (aim >= 0) add(mesh, { rig: k, body: -2, pose: agent.aim + 7 * aim, at: s.at, size, colour: accent, id: 0 }, false, true);
        const faults = agent && body.joint ? () => rig.status?.agents[rig.layout.agents.indexOf(agent)]?.faults[body.joint] : null;
        add(mesh, { rig: k, body: s.body, at: s.at, size, colour, id, faults }, s.kind === "plane");
      }
    }
    batches = [...groups.values()].sort((a, b) => a.ghost - b.ghost).map((g) => ({ ...g, count: g.items.length, data: new Float32Array(g.items.length * stride) }));
    framed = framed && touched;
    dirty = true;
  }

  const poseAt = (item) => item.pose !== undefined ? item.pose : item.body < 0 ? -1 : rig.layout.rigs[item.rig].poses + 7 * item.body;

  // move writes the instances of this frame.
  function move() {
    const picked = link();
    for (const b of batches) {
      for (const [n, item] of b.items.entries()) {
        const at = n * stride, from = poseAt(item);
        if (from < 0) compose(origin, 0, item.at, b.data, at); else compose(rig.values, from, item.at, b.data, at);
        b.data.set(item.size, at + 12);
        const tint = item.faults?.() ? alarm : picked && item.rig === picked.rig && item.body === picked.body ? accent : null;
        for (let i = 0; i < 3; i++) b.data[at + 16 + i] = tint ? 0.3 * item.colour[i] + 0.7 * tint[i] : item.colour[i];
        if (from >= 0 && Number.isNaN(rig.values[from])) b.data.fill(0, at, at + 16); // there is none
        b.data[at + 19] = b.ghost ? 0.35 : item.body < 0 ? 1 : 0.99; // what never moves may be looked through
        b.data[at + 20] = item.id;
      }
    }
  }

  // extras are rays of sensors and points of contact.
  function extras() {
    const lines = [], points = [];
    const values = rig.values;
    if (rays.checked) {
      for (const a of rig.layout.agents) {
        for (const s of a.sensors) {
          if (s.body < 0 || !["range", "sonar", "infrared"].includes(s.kind)) continue;
          const body = rig.layout.rigs[a.rig].poses + 7 * s.body;
          const from = place(values, body, place(s.mount, 0, [0, 0, 0]));
          for (let i = 0; i < s.count; i++) {
            const d = values[a.first + s.first + i];
            if (!Number.isFinite(d)) continue;
            const angle = s.count > 1 ? -s.fov / 2 + i * s.fov / (s.count - 1) : 0;
            const to = place(values, body, place(s.mount, 0, [d * Math.cos(angle), d * Math.sin(angle), 0]));
            lines.push(...from, 0.9, 0.2, 0.6, s.count > 20 ? 0.12 : 0.5, ...to, 0.9, 0.2, 0.6, 0.7);
          }
        }
      }
    }
    if (touches.checked) {
      for (const r of rig.layout.rigs) {
        for (let i = 0; i < r.most; i++) {
          const at = r.contacts + 3 * i;
          if (Number.isNaN(values[at])) break;
          points.push(values[at], values[at + 1], values[at + 2], 0.85, 0.1, 0.1, 1);
        }
      }
    }
    if (grip) { // the hand's pull, 1 cm a newton
      const at = rig.layout.rigs[grip.rig].poses + 7 * grip.body, p = [values[at], values[at + 1], values[at + 2]];
      lines.push(...p, 0.85, 0.6, 0, 1, ...p.map((v, i) => v + 0.01 * grip.force[i]), 0.85, 0.6, 0, 1);
    }
    return [lines, points];
  }

  // extent is where the shapes of the robots are, x y z and radius each.
  function extent() {
    const all = [];
    for (const b of batches) {
      if (b.ground || b.ghost) continue;
      for (const item of b.items) {
        const body = item.body < 0 ? null : scene.rigs[item.rig].bodies[item.body], from = poseAt(item);
        if (!body?.agent || followed && body.agent !== followed || !Number.isFinite(rig.values[from])) continue;
        const mesh = renderer.meshes.get(item.mesh ?? b.mesh), reach = mesh?.reach;
        all.push(...place(rig.values, from, item.at), reach ?? 0.8 * Math.hypot(item.size[0], item.size[1], item.size[2] + item.size[3]));
      }
    }
    return all;
  }

  // view fits the camera to the robots at first, and follows one.
  function view() {
    const aspect = canvas.clientWidth / Math.max(1, canvas.clientHeight);
    if (framed && !followed) return;
    const points = extent();
    if (!points.length) return;
    if (!framed) { framed = true; camera.fit(points, aspect); return; }
    for (let axis = 0; axis < 3; axis++) {
      let low = Infinity, high = -Infinity;
      for (let i = axis; i < points.length; i += 4) { low = Math.min(low, points[i]); high = Math.max(high, points[i]); }
      camera.target[axis] += 0.15 * ((low + high) / 2 - camera.target[axis]);
    }
  }

  // label names the faults at their links.
  let labelled = "";
  function label() {
    const all = [];
    for (const [a, agent] of rig.layout.agents.entries()) {
      for (const [i, b] of scene.rigs[agent.rig].bodies.entries()) {
        const fault = b.agent === agent.name && b.joint && rig.status?.agents[a]?.faults[b.joint];
        const at = rig.layout.rigs[agent.rig].poses + 7 * i, p = fault && all.length < 6 ? camera.project([rig.values[at], rig.values[at + 1], rig.values[at + 2]]) : null;
        if (p) all.push([b.joint + ": " + cause(fault), p]);
      }
    }
    const names = all.map(([t]) => t).join("\n");
    if (names !== labelled) { labelled = names; tags.replaceChildren(...all.map(([t]) => el("span", { class: "tag" }, "✕ " + t))); }
    for (const [k, [, p]] of all.entries()) tags.children[k].style.cssText = "max-width:" + Math.max(60, (1 - p[0]) * canvas.clientWidth - 18).toFixed(0) + "px;transform:translate(" + (p[0] * canvas.clientWidth + 12).toFixed(0) + "px," + (p[1] * canvas.clientHeight - 10).toFixed(0) + "px)"; // by CSSOM: the policy of the pages allows it
  }

  // faults are what can be done to an emulated servo, and to the readings of a real one.
  function faults(of, agent, joint, real) {
    const act = async (fault) => {
      const a = await tamper({ rig: of, agent, joint, fault });
      notice(a.error ? a.error : fault ? agent + "/" + joint + ": " + fault : agent + "/" + joint + ": its faults have ended");
    };
    const kind = el("select", { "aria-label": "Fault" }, ...(real ? ["stale", "dropped p=0.2", "wrong", "stuck"] : ["power_loss for=2s", "dropped p=0.2", "crc p=0.2", "corrupted p=0.2", "delayed by=5ms", "garbage p=0.2", "stuck", "wrong", "stale", "slipped"]).map((f) => el("option", {}, f)));
    return el("p", {}, real ? "" : el("button", { type: "button", onclick: () => act("unplugged") }, "Unplug"), " ",
      el("button", { type: "button", onclick: () => act("") }, real ? "End faults" : "Plug in, end faults"), el("br"), kind, " ", el("button", { type: "button", onclick: () => act(kind.value) }, "Plant fault"));
  }

  // link is the body of the scene that the picked joint moves, or null.
  function link() {
    const [a, i] = chosen(), agent = rig.layout?.agents[a];
    if (!scene || !agent || i < 0) return still;
    const body = scene.rigs[agent.rig].bodies.findIndex((b) => b.agent === agent.name && b.joint === agent.joints[i].name);
    return body < 0 ? null : { rig: agent.rig, body };
  }

  // choose picks the joint that moves a body.
  let still = null, values = null;
  function choose(what) {
    const body = what && scene.rigs[what.rig].bodies[what.body];
    const a = body ? rig.layout.agents.findIndex((g) => g.name === body.agent && g.rig === what.rig) : -1;
    still = what;
    pick(a, a < 0 ? -1 : rig.layout.agents[a].joints.findIndex((k) => k.name === body.joint));
    if (body && !body.joint) details.replaceChildren(el("h2", {}, body.agent + "/" + body.name), el("p", {}, "No motor moves this link."));
  }

  // inspect shows the picked joint.
  function inspect() {
    const [a, i] = chosen(), agent = rig.layout?.agents[a], j = agent?.joints[i];
    rows.mark();
    dirty = true;
    values = null;
    if (!j) { details.replaceChildren(el("p", {}, "Click a link or a name to pick a joint. Drag turns the view, the wheel zooms, Shift and drag moves it.")); return; }
    still = null;
    const cells = [["velocity", way(j) + "/s"], ["torque", force(j)], ["goal", way(j)], ["voltage", "V"], ["age", "s"], ["state", ""]].map(([n, unit]) => [n, unit, text()]);
    const dl = el("dl", {}, ...cells.flatMap(([n, , t]) => [el("dt", {}, n), el("dd", {}, t)])), why = text(), next = text(), fault = el("p", { class: "fault", hidden: true }, "✕ ", why, el("br"), "→ ", next);
    const [unit, factor] = shownAs(way(j)), typed = el("input", { type: "number", step: "any", "aria-label": "Goal, " + unit }), go = el("button", { type: "button" }, "Hold to move");
    const begin = (e) => { e.preventDefault(); const v = Number(typed.value) / factor; if (typed.value !== "" && Number.isFinite(v)) toward(a, i, Math.max(j.wraps ? -Infinity : j.min ?? -Infinity, Math.min(j.wraps ? Infinity : j.max ?? Infinity, v)), go); };
    go.addEventListener("pointerdown", (e) => { go.focus(); go.setPointerCapture(e.pointerId); begin(e); });
    go.addEventListener("keydown", (e) => { if (e.key === "Enter" && !e.repeat) begin(e); });
    for (const what of ["pointerup", "pointercancel", "lostpointercapture", "blur", "keyup"]) go.addEventListener(what, end);
    details.replaceChildren(el("h2", {}, agent.name + "/" + j.name), fault, dl);
    if (j.modes[0] && j.position >= 0) details.append(el("div", { class: "goto" }, "Go to ", typed, unit, go));
    if (j.body === "emulated" || j.body === "real") details.append(faults(agent.rig, agent.name, j.name, j.body === "real"));
    values = () => {
      const r = read(a, i), [state, old] = says(r);
      dl.classList.toggle("old", old);
      for (const [n, unit, t] of cells) put(t, n === "state" ? (r.fault ? "fault" : state) : tell(r[n], unit));
      fault.hidden = !r.fault;
      if (r.fault) { put(why, split(r.fault)[0]); put(next, advice(j, r.fault)); }
    };
    values();
  }
  inspect();

  // The mouse, fingers and keys.
  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
    moved = 0;
    const at = hand.checked && renderer && scene ? ids[renderer.pick(camera, batches, e.offsetX, e.offsetY)] : null;
    if (at) grip = { ...at, from: [e.offsetX, e.offsetY], force: [0, 0, 0], timer: setInterval(pull, 50) };
  });
  canvas.addEventListener("pointermove", (e) => {
    const was = fingers.get(e.pointerId);
    if (!was) return;
    if (grip) { // 0.1 N a pixel, in the plane of the picture
      const dx = 0.1 * (e.offsetX - grip.from[0]), dy = 0.1 * (e.offsetY - grip.from[1]), k = Math.min(1, 99 / Math.max(1e-9, Math.hypot(dx, dy)));
      grip.force = camera.right.map((r, i) => k * (dx * r - dy * camera.up[i]));
      moved += 5;
      return;
    }
    const dx = e.offsetX - was[0], dy = e.offsetY - was[1];
    moved += Math.abs(dx) + Math.abs(dy);
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      camera.distance *= Math.hypot(was[0] - other[0], was[1] - other[1]) / Math.max(1, Math.hypot(e.offsetX - other[0], e.offsetY - other[1]));
    } else if (e.shiftKey || e.buttons & 6) {
      const k = camera.distance / canvas.clientHeight;
      for (let i = 0; i < 3; i++) camera.target[i] += k * (-dx * camera.right[i] + dy * camera.up[i]);
    } else {
      camera.yaw -= dx * 0.008;
      camera.pitch += dy * 0.008;
    }
    fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
    dirty = touched = true;
  });
  let grip = null;
  const pull = () => {
    const b = scene.rigs[grip.rig].bodies[grip.body];
    send({ op: "push", rig: grip.rig, agent: b.agent, body: b.name, force: grip.force });
    dirty = true;
  };
  const letGo = () => {
    if (!grip) return;
    clearInterval(grip.timer);
    send({ op: "release", rig: grip.rig });
    grip = null;
    dirty = true;
  };
  const lift = (e) => {
    letGo();
    if (fingers.delete(e.pointerId) && e.type === "pointerup" && moved < 5 && renderer && scene) {
      choose(ids[renderer.pick(camera, batches, e.offsetX, e.offsetY)] ?? null);
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("lostpointercapture", letGo);
  addEventListener("blur", letGo);
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); camera.distance *= Math.exp(e.deltaY * 0.001); dirty = true; touched ||= e.deltaY !== 0; }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    if (turn) { camera.yaw += turn[0]; camera.pitch += turn[1]; } else if (e.key === "+" || e.key === "=") camera.distance *= 0.9; else if (e.key === "-") camera.distance *= 1.1; else return;
    e.preventDefault();
    dirty = touched = true;
  });
  const resized = new ResizeObserver(() => { dirty = true; framed = framed && touched; });
  resized.observe(canvas);

  // changed tells whether a pose, contact or fault is another one than in the last picture.
  let last = null;
  const changed = () => {
    let is = false;
    const v = rig.values;
    if (last?.length !== v.length) { last = new Float32Array(v.length).fill(NaN); is = true; }
    const part = (from, to) => { for (let i = from; i < to; i++) if (last[i] !== v[i] && !(Number.isNaN(last[i]) && Number.isNaN(v[i]))) { last[i] = v[i]; is = true; } };
    for (const r of rig.layout.rigs) part(r.contacts, r.poses + 7 * r.bodies);
    for (const a of rig.layout.agents) {
      if (a.ghost >= 0) part(a.ghost, a.ghost + 7 * a.links.length);
      if (a.aim >= 0) part(a.aim, a.aim + 7 * a.links.length);
      if (rays.checked) for (const s of a.sensors) if (s.body >= 0) part(a.first + s.first, a.first + s.first + s.count);
    }
    return is;
  };
  let frame = -1, slow = 0, drawn3D = 0, status = null, themed = "";
  shownPage = { picked: inspect };
  for (const box of [rays, touches]) box.addEventListener("change", () => { dirty = true; });
  if (renderer && rig.layout) load();
  return {
    times,
    close() {
      alive = false;
      shownPage = null;
      letGo();
      removeEventListener("blur", letGo);
      resized.disconnect();
      for (const i of pictures.querySelectorAll("img")) i.removeAttribute("src");
    },
    draw(now) {
      if (now - slow > 66) { slow = now; values?.(); rows.draw(); senses.draw(); }
      if (now - drawn3D < 30 || !renderer || !scene || !rig.values || scene.generation !== rig.layout.generation || frame === rig.frames && !dirty) return;
      if (rig.frames === 0) return;
      const begin = performance.now(), theme = document.documentElement.dataset.theme;
      frame = rig.frames;
      if (!changed() && !dirty && status === rig.status && theme === themed && !followed) return;
      [dirty, status, themed, drawn3D] = [false, rig.status, theme, now];
      view();
      move();
      camera.update(canvas.clientWidth / Math.max(1, canvas.clientHeight));
      const [lines, points] = extras();
      renderer.draw(camera, batches, lines, points, rgb(theme === "dark" ? "#1b1f27" : "#e9eef3"));
      label();
      times.push(performance.now() - begin);
      if (times.length > 600) times.shift();
    },
  };
}
