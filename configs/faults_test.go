package configs

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// rig is a config without a fault, which the cases break.
const rig = `name: r
buses:
  left: {type: dynamixel1, port: /dev/ttyUSB0}
  right: {type: dynamixel1, port: /dev/ttyUSB1}
agents:
  - name: a
    model: m
    hardware:
      joints:
        elbow: {bus: left, id: 1, model: ax-12a}
        wrist: {bus: right, id: 1, model: ax-12a}
  - {name: b, model: m}
servers:
  - {protocol: osp, listen: "127.0.0.1:45454"}
`

// with is the rig with old replaced by new.
func with(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(rig) }

func set(s ...string) Options { return Options{Set: s} }

func lines(l ...string) string { return strings.Join(l, "\n") }

var cases = []struct {
	name string
	yaml string
	o    Options
	want string // the whole text of the error
}{
	{"none", rig, Options{}, ""},
	{"from Windows", "\ufeff" + strings.ReplaceAll(rig, "\n", "\r\n"), Options{}, ""},

	// The document.
	{"empty", "", Options{}, `f.yaml: got nothing, want a config with the keys name, agents and servers; halyard configs demo prints one to start from`},
	{"comment", "# nothing\n", Options{},
		`f.yaml: got nothing, want a config with the keys name, agents and servers; halyard configs demo prints one to start from`},
	{"list", "- 1\n", Options{}, `f.yaml: got a list, want a config with the keys name, agents and servers; halyard configs demo prints one to start from`},
	{"syntax", "name: r\nagents: [\n", Options{},
		`f.yaml:2:9: got a syntax error: sequence end token ']' not found, want YAML`},
	{"tab", "name: r\nclock:\n\tmode: lockstep\n", Options{},
		`f.yaml:3:1: got a syntax error: found character '	' that cannot start any token, want YAML`},
	{"binary", "name: \xff\n", Options{}, `f.yaml: got bytes that are not text, want UTF-8`},
	{"big", rig + strings.Repeat("#", yaml.MaxBytes), Options{},
		`f.yaml: got more than 393216 bytes, want a file of at most 384 KiB`},
	{"keys", rig + "classes: {" + strings.Repeat("a: 1, ", 300) + "}", Options{},
		`f.yaml:15:1212: got more than 200 keys in a table, want fewer`},
	{"deep", rig + "classes: " + strings.Repeat("[", 64) + strings.Repeat("]", 64), Options{},
		`f.yaml:15:41: got more than 32 levels, want less nesting`},
	{"deep dashes", rig + "classes:\n  " + strings.Repeat("- ", 64), Options{},
		`f.yaml:16:65: got more than 32 levels, want less nesting`},
	{"documents", rig + "---\n" + rig, Options{}, `f.yaml:15:1: got 2 documents, want one`},
	{"anchor and alias", with("left, id: 1", "&l left, id: 1", "bus: right", "bus: *l"), Options{}, lines(
		`f.yaml:10:22: agents[0].hardware.joints.elbow.bus: got an anchor, want a plain value; write the value where it is used`,
		`f.yaml:11:22: agents[0].hardware.joints.wrist.bus: got an alias, want a plain value; write the value itself`,
	)},
	{"merge", with("- {name: b, model: m}", "- {<<: {model: m}, name: b}"), Options{},
		`f.yaml:12:6: agents[1]: got a merge key, want a plain key`},
	{"tag", with("name: r", "name: !!str r"), Options{},
		`f.yaml:1:7: name: got a tag "!!str", want a plain value; leave the tag out`},
	{"twice", with("    model: m\n", "    model: m\n    model: n\n"), Options{},
		`f.yaml:8:5: agents[0].model: got the key a second time, want each key once; the first is in line 7`},

	// Keys and types.
	{"unknown", with("    model: m", "    modle: m"), Options{},
		`f.yaml:7:5: agents[0].modle: got an unknown key, want name, pose, model, lenient, base, repair, self_collision, drive, body, parts, twin, pose_from, on_loss, couple, shadow, gains, start, fall, guard or hardware; did you mean "model"?`},
	{"unknown at the top", rig + "dashboard: {}\n", Options{},
		`f.yaml:15:1: dashboard: got an unknown key, want name, clock, world, buses, agents, servers, policies, teleop, record or classes`},
	{"missing", with("    model: m\n", ""), Options{}, `f.yaml:6:5: agents[0].model: got nothing, want text`},
	{"empty value", with("    model: m", "    model:"), Options{},
		`f.yaml:7:5: agents[0].model: got nothing, want text`},
	{"text for a table", with("- {name: b, model: m}", "- b"), Options{},
		`f.yaml:12:5: agents[1]: got "b", want a table`},
	{"table for a text", with("name: r", "name: {a: r}"), Options{},
		`f.yaml:1:1: name: got a table, want a name of letters, digits, - _ and .`},
	{"table for a list", with("agents:", "agents: {a: 1}\nclasses:"), Options{}, lines(
		`f.yaml:5:1: agents: got a table, want a list`,
		`f.yaml:6:1: classes: got a list, want a table`,
	)},
	{"number for a text", with("name: r", "name: 5"), Options{},
		`f.yaml:1:7: name: got 5, want a name of letters, digits, - _ and .; write it in quotes: "5"`},
	{"text for a number", with("left, id: 1", "left, id: one"), Options{},
		`f.yaml:10:32: agents[0].hardware.joints.elbow.id: got "one", want 0..253`},
	{"fraction", with("left, id: 1", "left, id: 1.5"), Options{},
		`f.yaml:10:32: agents[0].hardware.joints.elbow.id: got 1.5, want 0..253`},
	{"octal", with("left, id: 1", "left, id: 010"), Options{},
		`f.yaml:10:32: agents[0].hardware.joints.elbow.id: got 010, want 0..253`},
	{"range", with("left, id: 1", "left, id: 300"), Options{},
		`f.yaml:10:32: agents[0].hardware.joints.elbow.id: got 300, want 0..253`},
	{"huge", with("left, id: 1", "left, id: 99999999999999999999"), Options{},
		`f.yaml:10:32: agents[0].hardware.joints.elbow.id: got 99999999999999999999, want 0..253`},
	{"yes", with("model: m}", "model: m, shadow: yes}"), Options{},
		`f.yaml:12:33: agents[1].shadow: got "yes", want true or false`},
	{"enum", with("model: m}", "model: m, body: simm}"), Options{},
		`f.yaml:12:31: agents[1].body: got "simm", want sim, emulated or real; did you mean "sim"?`},
	{"part", with("model: m}", "model: m, parts: {x: simm}}"), Options{},
		`f.yaml:12:36: agents[1].parts.x: got "simm", want sim, emulated or real; did you mean "sim"?`},
	{"time without unit", rig + "clock: {period: 10}\n", Options{},
		`f.yaml:15:17: clock.period: got 10, want a time 100us..1s; write the unit: 10ms or 10s`},
	{"time out of range", rig + "clock: {period: 1h}\n", Options{},
		`f.yaml:15:17: clock.period: got "1h", want a time 100us..1s`},
	{"time in nanoseconds", rig + "clock: {period: 1000001ns}\n", Options{},
		`f.yaml:15:17: clock.period: got 1.000001ms, want whole microseconds`},
	{"time none", rig + "clock: {period: none}\n", Options{},
		`f.yaml:15:17: clock.period: got "none", want a time 100us..1s`},
	{"pose", with("model: m}", "model: m, pose: {position: [0, 0], rotation: [0, .nan, x]}}"), Options{}, lines(
		`f.yaml:12:32: agents[1].pose.position: got 2, want a list of 3 numbers`,
		`f.yaml:12:64: agents[1].pose.rotation[1]: got .nan, want a number`,
		`f.yaml:12:70: agents[1].pose.rotation[2]: got "x", want a number`,
	)},
	{"name", with("name: r", "name: ../r"), Options{},
		`f.yaml:1:7: name: got "../r", want a name of letters, digits, - _ and .`},
	{"names of a table", with("elbow:", "\"el bow\":", "wrist:", "\"\":"), Options{}, lines(
		`f.yaml:10:9: agents[0].hardware.joints["el bow"]: got the key "el bow", want a name of letters, digits, - _ and .`,
		`f.yaml:11:9: agents[0].hardware.joints[""]: got the key "", want a name of letters, digits, - _ and .`,
	)},
	{"port", with("/dev/ttyUSB0", "\"/dev/tty USB0\""), Options{},
		`f.yaml:3:34: buses.left.port: got "/dev/tty USB0", want a device such as /dev/serial/by-id/usb-FTDI_..., or a path`},
	{"address", with("127.0.0.1:45454", "127.0.0.1"), Options{},
		`f.yaml:14:29: servers[0].listen: got "127.0.0.1", want HOST:PORT with a port of 0..65535`},
	{"address port", with("127.0.0.1:45454", "127.0.0.1:99999"), Options{},
		`f.yaml:14:29: servers[0].listen: got "127.0.0.1:99999", want HOST:PORT with a port of 0..65535`},

	// Relations between keys.
	{"no robot", "name: r\n", Options{}, `f.yaml: agents: got nothing, want at least one agent or class`},
	{"substep", rig + "world: {substep: 3ms}\n", Options{},
		`f.yaml:15:18: world.substep: got 3ms, want a whole part of clock.period, 10ms`},
	{"two agents, one name", with("name: b", "name: a"), Options{},
		`f.yaml:12:12: agents[1].name: got "a", want a name of its own; agents[0].name has it too`},
	{"two buses, one port", with("ttyUSB1", "./ttyUSB0"), Options{},
		`f.yaml:4:35: buses.right.port: got "/dev/ttyUSB0", want a port of its own, or one bus for the joints of both; buses.left.port has it too`},
	{"tarm", with("ttyUSB0}", "ttyUSB0, serial_backend: tarm}"), Options{},
		`f.yaml:3:3: buses.left.baud: got 1000000, want 115200 or less with serial_backend tarm; use serial_backend bugst`},
	{"former names", with("ttyUSB0}", "ttyUSB0, hertz: 100000}", "left, id: 1, model: ax-12a}",
		"left, id: 1, model: ax-12a, truth: {zero: 1}}"), Options{}, lines(
		`f.yaml:3:48: buses.left.hertz: got an unknown key, want type, port, baud, frequency, serial_backend, latency, return_delay, supply, timing, eeprom, firmware or quirks; did you mean "frequency"?`,
		`f.yaml:10:50: agents[0].hardware.joints.elbow.truth: got an unknown key, want bus, id, model, device, address, channel, frequency, oscillator, crc, output_enable, calibration, ground_truth, supply, registers or eeprom; did you mean "ground_truth"?`,
	)},
	{"bus steps", with("ttyUSB0}", "ttyUSB0, latency: 1500us, return_delay: 3us}"), Options{}, lines(
		`f.yaml:3:57: buses.left.latency: got 1.5ms, want whole milliseconds`,
		`f.yaml:3:79: buses.left.return_delay: got 3µs, want steps of 2us`,
	)},
	{"unknown bus", with("bus: left", "bus: lfet"), Options{},
		`f.yaml:10:22: agents[0].hardware.joints.elbow.bus: got "lfet", want left or right; did you mean "left"?`},
	{"two servos, one id", with("bus: right", "bus: left"), Options{},
		`f.yaml:11:32: agents[0].hardware.joints.wrist.id: got 1, want an id of its own on bus "left"; agents[0].hardware.joints.elbow.id has it too`},
	{"two servos of two agents", with("- {name: b, model: m}",
		"- {name: b, model: m, hardware: {joints: {x: {bus: right, id: 1, model: ax-12a}}}}"), Options{},
		`f.yaml:12:65: agents[1].hardware.joints.x.id: got 1, want an id of its own on bus "right"; agents[0].hardware.joints.wrist.id has it too`},
	{"two servos, one of a class",
		rig + "classes: {USARBot.P2AT: {model: m, hardware: {joints: {x: {bus: right, id: 1, model: ax-12a}}}}}\n",
		Options{}, `f.yaml:15:76: classes["USARBot.P2AT"].hardware.joints.x.id: got 1, want an id of its own on bus "right"; agents[0].hardware.joints.wrist.id has it too`},
	{"no hardware", with("model: m}", "model: m, body: emulated}"), Options{},
		`f.yaml:12:6: agents[1].hardware: got nothing, want the devices of a body that is emulated`},
	{"no hardware of a part", with("    model: m\n", "    model: m\n    parts: {elbwo: emulated}\n"), Options{},
		`f.yaml:8:20: agents[0].parts.elbwo: got emulated, want sim, or its device under agents[0].hardware; did you mean "elbow"?`},
	{"real in lockstep", with("    model: m\n", "    model: m\n    parts: {elbow: real}\n") +
		"clock: {mode: lockstep}\n", Options{},
		`f.yaml:8:20: agents[0].parts.elbow: got real, want sim or emulated in lockstep: a real robot cannot wait; set clock.mode: realtime`},
	{"real without port", with(", port: /dev/ttyUSB0", "", "    model: m\n", "    model: m\n    body: real\n"),
		Options{}, `f.yaml:3:3: buses.left.port: got nothing, want a port, for agents[0].hardware.joints.elbow is real; halyard ports lists them`},
	{"server's agent", with("45454\"", "45454\", agent: c"), Options{},
		`f.yaml:14:55: servers[0].agent: got "c", want the name of an agent; did you mean "a"?`},
	{"gains", with("45454\"", "45454\", pid: [3.5, 1001, -1]"), Options{}, lines(
		`f.yaml:14:59: servers[0].pid[1]: got 1001, want 0..1000`,
		`f.yaml:14:65: servers[0].pid[2]: got -1, want 0..1000`,
	)},
	{"odcp of which", with("osp", "odcp"), Options{},
		`f.yaml:14:6: servers[0].agent: got nothing, want a or b; odcp serves one robot`},
	{"one address twice", with("servers:\n", "servers:\n  - {protocol: osp, listen: \"127.0.0.1:45454\"}\n"), Options{},
		`f.yaml:15:29: servers[1].listen: got "127.0.0.1:45454", want an address of its own; servers[0].listen has it too`},
	{"no buses", with("buses:\n", "", "  left: {type: dynamixel1, port: /dev/ttyUSB0}\n", "",
		"  right: {type: dynamixel1, port: /dev/ttyUSB1}\n", ""), Options{}, lines(
		`f.yaml:7:22: agents[0].hardware.joints.elbow.bus: got "left", want a bus under buses`,
		`f.yaml:8:22: agents[0].hardware.joints.wrist.bus: got "right", want a bus under buses`,
	)},
	{"servo and pulses", with("elbow: {bus: left, id: 1, model: ax-12a}",
		"elbow: {bus: left, id: 1, model: ax-12a, channel: 3, frequency: 50}",
		"wrist: {bus: right, id: 1, model: ax-12a}",
		"wrist: {bus: right, id: 1, device: pca9685, ground_truth: {gear: 2}}"), Options{}, lines(
		`f.yaml:10:59: agents[0].hardware.joints.elbow.channel: got channel, want it only with device, the board of the output; a servo has bus, id and model`,
		`f.yaml:10:73: agents[0].hardware.joints.elbow.frequency: got frequency, want it only with device, the board of the output; a servo has bus, id and model`,
		`f.yaml:11:9: agents[0].hardware.joints.wrist.channel: got nothing, want 0..255`,
		`f.yaml:11:33: agents[0].hardware.joints.wrist.id: got id, want no such key with device; a channel of pulses has device, address and channel`,
		`f.yaml:11:53: agents[0].hardware.joints.wrist.ground_truth: got zero, gear or backlash, want only direction with device`,
	)},
	{"no servo", with("{bus: left, id: 1, model: ax-12a}", "{calibration: x}", "model: ax-12a", "model: \"\""),
		Options{}, lines(
			`f.yaml:10:9: agents[0].hardware.joints.elbow.bus: got nothing, want text`,
			`f.yaml:10:9: agents[0].hardware.joints.elbow.id: got nothing, want 0..253`,
			`f.yaml:10:9: agents[0].hardware.joints.elbow.model: got nothing, want a word of small letters, digits, - and _, or the path of a servo file, NAME.yaml`,
			`f.yaml:11:43: agents[0].hardware.joints.wrist.model: got "", want the servo's, or device: the board that makes its pulses`,
		)},
	{"sensors", with("      joints:\n", "      sensors: {imu: {bus: main, device: bno055, address: 200}, depth: "+
		"{bus: lefd}}\n      monitors: {leak: {bus: left, device: ads1115, input: 4, above: x}}\n      joints:\n"),
		Options{}, lines(
			`f.yaml:9:28: agents[0].hardware.sensors.imu.bus: got "main", want left or right`,
			`f.yaml:9:59: agents[0].hardware.sensors.imu.address: got 200, want 0..127`,
			`f.yaml:9:65: agents[0].hardware.sensors.depth.device: got nothing, want a word of small letters, digits, - and _`,
			`f.yaml:9:78: agents[0].hardware.sensors.depth.bus: got "lefd", want left or right; did you mean "left"?`,
			`f.yaml:10:60: agents[0].hardware.monitors.leak.input: got 4, want 0..3`,
			`f.yaml:10:70: agents[0].hardware.monitors.leak.above: got "x", want a number`,
		)},
	{"cameras", with("    model: m\n", "    model: m\n    body: real\n", "      joints:\n",
		"      cameras: {front: {device: v4l2}, back: {device: v4l2, port: /dev/video2, width: 0, format: h264, "+
			"rate: 200}}\n      joints:\n"), Options{}, lines(
		`f.yaml:10:17: agents[0].hardware.cameras.front.port: got nothing, want a device, for agents[0].hardware.cameras.front is real; ls /dev/v4l/by-id lists them`,
		`f.yaml:10:87: agents[0].hardware.cameras.back.width: got 0, want 1..4096`,
		`f.yaml:10:98: agents[0].hardware.cameras.back.format: got "h264", want mjpeg, yuyv, rgb24 or grey`,
		`f.yaml:10:110: agents[0].hardware.cameras.back.rate: got 200, want 0.1..120`,
	)},
	{"a faulty bus is no unknown bus", with("{type: dynamixel1, port: /dev/ttyUSB0}", "5"), Options{},
		`f.yaml:3:9: buses.left: got 5, want a table`},
	{"a faulty id is no second one", with("bus: right, id: 1", "bus: left, id: -1"), Options{},
		`f.yaml:11:32: agents[0].hardware.joints.wrist.id: got -1, want 0..253`},

	// Options.
	{"set unknown", rig, set("agents[0].bodi=real"),
		`--set agents[0].bodi=real: agents[0].bodi: got an unknown key, want name, pose, model, lenient, base, repair, self_collision, drive, body, parts, twin, pose_from, on_loss, couple, shadow, gains, start, fall, guard or hardware; did you mean "body"?`},
	{"set range", rig, set("agents[0].hardware.joints.elbow.id=300"),
		`--set agents[0].hardware.joints.elbow.id=300: agents[0].hardware.joints.elbow.id: got 300, want 0..253`},
	{"set table", rig, set("agents[1].guard={slew: 2}"),
		`--set agents[1].guard={slew: 2}: agents[1].guard.slew: got 2, want 0.001..1`},
	{"set nothing", rig, set("agents[0].body"),
		`--set agents[0].body: got "agents[0].body", want PATH=VALUE, such as agents[0].body=emulated`},
	{"set bad path", rig, set("agents[0]body=real", "agents[x].body=real", "[0=1", "=1"), lines(
		`--set agents[0]body=real: got "agents[0]body", want a path such as agents[0].hardware.joints.left_elbow.id`,
		`--set agents[x].body=real: got "agents[x].body", want a path such as agents[0].hardware.joints.left_elbow.id`,
		`--set [0=1: got "[0", want a path such as agents[0].hardware.joints.left_elbow.id`,
		`--set =1: got "=1", want PATH=VALUE, such as agents[0].body=emulated`,
	)},
	{"set past the end", rig, set("agents[3].body=real", "name[0]=x", "name.x=y"), lines(
		`--set agents[3].body=real: got agents[3], want an item 0..2`,
		`--set name[0]=x: got "r" at name, want a list`,
		`--set name.x=y: got "r" at name, want a table with the key x`,
	)},
	{"set clash", rig, set("buses.left.port=/dev/ttyUSB1"),
		`--set buses.left.port=/dev/ttyUSB1: buses.left.port: got "/dev/ttyUSB1", want a port of its own, or one bus for the joints of both; buses.right.port has it too`},
	{"body", rig, Options{Body: "reel"}, `--body reel: got "reel", want sim, emulated or real; did you mean "real"?`},
	{"body without hardware", rig, Options{Body: "emulated"},
		`f.yaml:12:6: agents[1].hardware: got nothing, want the devices of a body that is emulated; --body emulated asks for them`},
	{"listen", rig, Options{Listen: []string{"osp", "odcp@=:0", "osp=nowhere"}}, lines(
		`--listen osp: got "osp", want PROTOCOL=HOST:PORT or PROTOCOL@AGENT=HOST:PORT`,
		`--listen odcp@=:0: got "odcp@=:0", want PROTOCOL=HOST:PORT or PROTOCOL@AGENT=HOST:PORT`,
		`--listen osp=nowhere: servers[0].listen: got "nowhere", want HOST:PORT with a port of 0..65535`,
	)},
	{"listen which", with("servers:\n", "servers:\n  - {protocol: osp, listen: \"127.0.0.1:1\"}\n"),
		Options{Listen: []string{"osp=127.0.0.1:0"}},
		`--listen osp=127.0.0.1:0: got 2 servers of osp, want osp@AGENT=127.0.0.1:0`},
}

func TestFaults(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config, err := Parse([]byte(c.yaml), "f.yaml", c.o)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want || (config == nil) != (err != nil) {
				t.Errorf("config %v\ngot  %s\nwant %s", config != nil, got, c.want)
			}
			if err != nil && hal.KindOf(err) != hal.Invalid {
				t.Errorf("got kind %v, want invalid", hal.KindOf(err))
			}
		})
	}
}

// A config with ten faults reports ten.
func TestTenFaults(t *testing.T) {
	const ten = `name: r
clock: {mode: lockstep, period: 10}
buses:
  left: {type: dynamixel1, port: /dev/ttyUSB0}
  right: {type: dynamixel1, port: /dev/ttyUSB0}
agents:
  - name: a
    modle: m
    body: simm
    hardware:
      joints:
        elbow: {bus: lfet, id: 1, model: ax-12a}
        wrist: {bus: left, id: 300, model: ax-12a}
        waist: {bus: left, id: 2, model: ax-12a}
        head: {bus: left, id: 2, model: ax-12a}
  - {name: a, model: m, body: emulated}
servers:
  - {protocol: osp, listen: "127.0.0.1"}
`
	_, err := Parse([]byte(ten), "f.yaml", Options{})
	const want = `f.yaml:2:33: clock.period: got 10, want a time 100us..1s; write the unit: 10ms or 10s
f.yaml:5:35: buses.right.port: got "/dev/ttyUSB0", want a port of its own, or one bus for the joints of both; buses.left.port has it too
f.yaml:8:5: agents[0].modle: got an unknown key, want name, pose, model, lenient, base, repair, self_collision, drive, body, parts, twin, pose_from, on_loss, couple, shadow, gains, start, fall, guard or hardware; did you mean "model"?
f.yaml:9:11: agents[0].body: got "simm", want sim, emulated or real; did you mean "sim"?
f.yaml:12:22: agents[0].hardware.joints.elbow.bus: got "lfet", want left or right; did you mean "left"?
f.yaml:13:32: agents[0].hardware.joints.wrist.id: got 300, want 0..253
f.yaml:15:31: agents[0].hardware.joints.head.id: got 2, want an id of its own on bus "left"; agents[0].hardware.joints.waist.id has it too
f.yaml:16:6: agents[1].hardware: got nothing, want the devices of a body that is emulated
f.yaml:16:12: agents[1].name: got "a", want a name of its own; agents[0].name has it too
f.yaml:18:29: servers[0].listen: got "127.0.0.1", want HOST:PORT with a port of 0..65535`
	if err == nil || err.Error() != want || len(err.(Faults)) != 10 {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
