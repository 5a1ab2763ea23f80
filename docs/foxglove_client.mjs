// A robot of Halyard as Foxglove's own client library sees it: npm install @foxglove/ws-protocol @foxglove/schemas ws;
// node foxglove_client.mjs ws://127.0.0.1:8765
import ws from "@foxglove/ws-protocol";
import schemas from "@foxglove/schemas/jsonschema.js";
import WebSocket from "ws";
const url = process.argv[2] ?? "ws://127.0.0.1:8765";
const { FoxgloveClient } = ws;
const client = new FoxgloveClient({ ws: new WebSocket(url, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]) });
const log = (...a) => console.log(...a);
const short = (v) => JSON.stringify(v).slice(0, 260);
const pause = (ms) => new Promise((r) => setTimeout(r, ms));
const event = (name) => new Promise((ok) => { const f = (m) => { client.off(name, f); ok(m); }; client.on(name, f); });
client.on("error", (e) => log("error:", e.message));
client.on("status", (m) => log("status:", short(m)));
const channels = [], services = [];
client.on("advertise", (list) => channels.push(...list));
client.on("advertiseServices", (list) => services.push(...list));
log("serverInfo:", short(await event("serverInfo")));
await pause(200);
log("channels:", channels.map((c) => c.topic + " " + c.schemaName).join(", "));
log("services:", services.map((s) => s.name).join(" "));
// every field of Foxglove's own schemas that ours lack, or have of another type
const differ = (ours, theirs, at) => {
  if (ours.type !== theirs.type && !(theirs.oneOf && ours.type === "integer")) return [at + ": " + ours.type];
  let all = [];
  for (const r of theirs.required ?? []) if (!ours.properties?.[r]) all.push(at + "." + r + " is missing");
  for (const [k, v] of Object.entries(ours.properties ?? {})) all.push(...(theirs.properties?.[k] ? differ(v, theirs.properties[k], at + "." + k) : [at + "." + k + " is unknown"]));
  if (ours.items) all.push(...differ(ours.items, theirs.items, at + "[]"));
  return all;
};
for (const c of channels) {
  const theirs = schemas[c.schemaName.replace("foxglove.", "")];
  if (c.schemaName.startsWith("foxglove.")) log("schema", c.schemaName + ":", differ(JSON.parse(c.schema), theirs, c.schemaName).join("; ") || "as Foxglove's");
}
const decoder = new TextDecoder();
// the values of a message that its own schema does not allow
const check = (v, s, at) => {
  if (v === null) return s.type === "number" ? [] : [at + ": null"];
  const t = Array.isArray(v) ? "array" : Number.isInteger(v) && s.type === "integer" ? "integer" : typeof v;
  if (t !== s.type) return [at + ": " + t + ", want " + s.type];
  if (t === "array") return v.flatMap((x) => check(x, s.items, at + "[]"));
  if (t !== "object") return [];
  return [...s.required.filter((k) => !(k in v)).map((k) => at + "." + k + " is missing"), ...Object.entries(v).flatMap(([k, x]) => (s.properties[k] ? check(x, s.properties[k], at + "." + k) : [at + "." + k + " is unknown"]))];
};
const once = async (topic) => {
  const c = channels.find((c) => c.topic === topic), id = client.subscribe(c.id);
  for (;;) {
    const m = await Promise.race([event("message"), pause(3000)]);
    if (!m) return undefined;
    if (m.subscriptionId !== id) continue;
    client.unsubscribe(id);
    const value = JSON.parse(decoder.decode(m.data));
    const s = JSON.parse(c.schema), fix = (x) => (x.title === "time" && (x.required = []), Object.values(x.properties ?? {}).forEach(fix), x.items && fix(x.items), x);
    return { value, bad: check(value, fix(s), topic) };
  }
};
for (const c of channels) {
  if (c.topic.startsWith("/range") && c.topic !== "/range/f1") continue;
  const m = await once(c.topic);
  log(c.topic + ":", m ? short(m.value) + (m.bad.length ? " WRONG: " + m.bad.slice(0, 3).join("; ") : "") : "silent");
}
const t0 = await event("time");
await pause(1000);
const t1 = await event("time");
log("time passes:", Number(t1.timestamp - t0.timestamp) / 1e9 > 0.9);
client.getParameters([], "all");
const parameters = (await event("parameterValues")).parameters;
log("parameters:", parameters.length, short(parameters.slice(0, 3)));
const call = async (name) => {
  const s = services.find((s) => s.name === name);
  client.sendServiceCallRequest({ serviceId: s.id, callId: 7, encoding: "json", data: new DataView(new TextEncoder().encode("{}").buffer) });
  const m = await event("serviceCallResponse");
  return decoder.decode(m.data);
};
// commands
const drive = channels.some((c) => c.topic === "/odom");
const topic = drive ? "/cmd_vel" : "/joint_commands";
const id = client.advertise({ topic, encoding: "json", schemaName: drive ? "geometry_msgs/Twist" : "foxglove.JointStates" });
const joints = (await once("/joint_states")).value.joints;
const where = async () => (drive ? (await once("/odom")).value.pose.position.x : (await once("/joint_states")).value.joints[0].position);
const start = await where();
const command = () => client.sendMessage(id, new TextEncoder().encode(JSON.stringify(drive ? { linear: { x: 0.3, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } } : { joints: [{ name: joints[0].name, position: joints[0].position + 0.3 }] })));
for (let i = 0; i < 15; i++) { command(); await pause(100); }
log("after 1.5 s of commands it moved", ((await where()) - start).toFixed(2), drive ? "m" : "rad");
log("/stop:", await call("/stop"));
command();
await pause(100);
log("/reset:", await call("/reset"));
log("/arm:", await call("/arm"));
client.unadvertise(id);
client.advertise({ topic: "/led", encoding: "json", schemaName: "std_msgs/Bool" });
client.subscribe(999);
await pause(200);
client.close();
