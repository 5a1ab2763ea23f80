// A robot of Halyard as a program that uses roslib sees it: npm install roslib; node rosbridge_client.mjs ws://127.0.0.1:9090
import { Ros, Topic, Service, Param } from "roslib";
const url = process.argv[2] ?? "ws://127.0.0.1:9090";
const ros = new Ros();
const log = (...a) => console.log(...a);
const short = (v) => JSON.stringify(v, (k, x) => (ArrayBuffer.isView(x) ? Array.from(x) : x)).slice(0, 300);
const ask = (f) => new Promise((ok, bad) => f(ok, bad));
ros.on("error", (e) => log("error:", e.message ?? e));
ros.on("status", (m) => log("status:", short(m)));
await ask((ok, bad) => { ros.on("connection", ok); ros.on("close", bad); ros.connect(url); });
log("connected");
log("topics:", short(await ask((ok, bad) => ros.getTopics(ok, bad))));
log("services:", (await ask((ok, bad) => ros.getServices(ok, bad))).length);
log("nodes:", short(await ask((ok, bad) => ros.getNodes(ok, bad))));
log("type of /joint_states:", await ask((ok, bad) => ros.getTopicType("/joint_states", ok, bad)));
log("topics of sensor_msgs/JointState:", short(await ask((ok, bad) => ros.getTopicsForType("sensor_msgs/JointState", ok, bad))));
log("type of /stop:", await ask((ok, bad) => ros.getServiceType("/stop", ok, bad)));
log("services of std_srvs/Trigger:", short(await ask((ok, bad) => ros.getServicesForType("std_srvs/Trigger", ok, bad))));
log("/stop answers with:", short(await ask((ok, bad) => ros.getServiceResponseDetails("std_srvs/Trigger", ok, bad))));
const defs = await ask((ok, bad) => ros.getMessageDetails("sensor_msgs/JointState", ok, bad));
log("sensor_msgs/JointState is:", short(ros.decodeTypeDefs(defs)));
log("raw types:", (await ask((ok, bad) => ros.getTopicsAndRawTypes(ok, bad))).typedefs_full_text.length);
log("parameters:", short(await ask((ok, bad) => ros.getParams(ok, bad))));
const once = (name, messageType, options = {}) => ask((ok) => {
  const t = new Topic({ ros, name, messageType, ...options });
  t.subscribe((m) => { t.unsubscribe(); ok(m); });
});
const one = await once("/joint_states", "sensor_msgs/JointState");
log("/joint_states, ROS 1:", short(one));
log("/joint_states, ROS 2:", short(await once("/joint_states", "sensor_msgs/msg/JointState")));
for (const compression of ["png", "cbor"]) log("/joint_states,", compression + ":", short(await once("/joint_states", "sensor_msgs/msg/JointState", { compression })));
log("/joint_states in fragments:", short(await ask((ok) => {
  const t = new Topic({ ros, name: "/joint_states", messageType: "sensor_msgs/msg/JointState" });
  t.subscribe((m) => { t.unsubscribe(); ok(m); });
  ros.callOnConnection({ op: "subscribe", id: "f", topic: "/joint_states", fragment_size: 150 });
})));
ros.callOnConnection({ op: "unsubscribe", topic: "/joint_states" });
log("/tf:", (await once("/tf", "tf2_msgs/TFMessage")).transforms.map((t) => t.header.frame_id + ">" + t.child_frame_id).join(" "));
log("/diagnostics:", short((await once("/diagnostics", "diagnostic_msgs/DiagnosticArray")).status.at(-2)));
const have = (await ask((ok, bad) => ros.getTopics(ok, bad))).topics;
for (const [name, type] of [["/scan", "sensor_msgs/LaserScan"], ["/odom", "nav_msgs/Odometry"], ["/imu/data", "sensor_msgs/Imu"], ["/camera/compressed", "sensor_msgs/CompressedImage"]])
  if (have.includes(name)) log(name + ":", short(await once(name, type)));
// a rate: 10 messages a second of 50
let n = 0;
const slow = new Topic({ ros, name: "/joint_states", messageType: "sensor_msgs/msg/JointState", throttle_rate: 100 });
slow.subscribe(() => n++);
await new Promise((r) => setTimeout(r, 2050));
slow.unsubscribe();
log("messages in 2 s with throttle_rate 100:", n);
const call = (name, serviceType = "std_srvs/Trigger", args = {}) => ask((ok) => new Service({ ros, name, serviceType }).callService(args, (v) => ok(short(v)), (e) => ok("failed: " + e)));
// commands
const drive = have.includes("/cmd_vel");
const joint = one.name.at(drive ? -1 : 0), before = one.position[one.name.indexOf(joint)];
const commands = new Topic({ ros, name: drive ? "/cmd_vel" : "/joint_commands", messageType: drive ? "geometry_msgs/Twist" : "sensor_msgs/JointState" });
const command = (v) => commands.publish(drive ? { linear: { x: v, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } } : { name: [joint], position: [before + v] });
const where = async () => drive ? (await once("/odom", "nav_msgs/Odometry")).pose.pose.position.x : (await once("/joint_states", "sensor_msgs/JointState")).position[one.name.indexOf(joint)];
const start = await where();
for (let i = 0; i < 15; i++) { command(0.3); await new Promise((r) => setTimeout(r, 100)); }
log("after 1.5 s of commands it moved", ((await where()) - start).toFixed(2), drive ? "m" : "rad");
await new Promise((r) => setTimeout(r, 700));
if (drive) log("0.7 s after the last one:", (await once("/odom", "nav_msgs/Odometry")).twist.twist.linear.x.toFixed(3), "m/s");
log("/stop:", await call("/stop"));
command(0.3);
await new Promise((r) => setTimeout(r, 100));
log("/arm:", await call("/arm"));
log("/reset:", await call("/reset"));
log("/arm:", await call("/arm"));
// mistakes
log("/nowhere:", await call("/nowhere"));
new Topic({ ros, name: "/joint_states", messageType: "std_msgs/String" }).subscribe(() => log("?"));
new Topic({ ros, name: "/joint_commands", messageType: "sensor_msgs/JointState" }).publish({ name: 1 });
ros.callOnConnection({ op: "dance" });
await new Promise((r) => setTimeout(r, 200));
log("parameter:", short(await ask((ok, bad) => new Param({ ros, name: "/node:x" }).get(ok, bad))));
ros.close();
