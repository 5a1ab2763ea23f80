package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/model"
)

// What a beginner gets wrong in a config is named where it stands, with what is right: nothing of it reaches a device.
func TestBeginnersConfigs(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"buses.arm.type=i2c", "hardware.joints.elbow_flex.bus: got arm, which is i2c, want a bus of type feetech, " +
			"for sts3215"},
		{"buses.arm.type=spi", "got arm, which is spi, want a bus of type feetech, for sts3215"},
		{"buses.arm={type: spi, port: /dev/spidev0.0}",
			"got arm, which is spi, want a bus of type feetech, for sts3215"},
		{"buses.arm.type=gpio", "which is gpio"},
		{"buses.arm.type=serial", "which is serial"},
		{"buses.arm.type=feetch", `did you mean "feetech"?`},
		{"buses.arm.baud=123456", "want a rate of a sts3215: 38400, 57600, 76800, 115200, 128000, 250000, 500000, " +
			"1000000"},
		{"buses.arm.baud=2000000", "buses.arm.baud"},
		{"buses.arm.port=can0", "got can0, which is a CAN interface, want a serial port, for type feetech"},
		{"buses.arm.port=/dev/i2c-1", "which is an I2C bus"},
		{"buses.arm.port=tcp://laser:10940", "which is an address of the network"},
		{"buses.arm.frequency=100000", "baud is the rate of a line"},
		{"buses.io={type: gpio, port: /dev/ttyUSB0}", "which is a serial port, want a GPIO chip, for type gpio"},
		{"buses.can={type: cybergear, port: /dev/ttyUSB0}", "want a CAN interface"},
		{"buses.chips={type: i2c, port: can0}", "want an I2C bus"},
		{"buses.chips={type: i2c, baud: 9600}", "buses.chips.baud"},
		{"agents[0].model=so-101", `did you mean "so101"?`},
		{"world.scene=flaat", `did you mean "flat"?`},
		{"agents[0].hardware.joints.elbow_flx={bus: arm, id: 9, model: sts3215}", `did you mean "elbow_flex"?`},
		{"agents[0].hardware.joints.elbow_flex.model=sts-3215", `did you mean "sts3215"?`},
		{"agents[0].hardware.joints.elbow_flex.registers.position_pgain=1", `did you mean "position_p_gain"?`},
		{"agents[0].hardware.joints.elbow_flex.registers.nonsense=1", "halyard registers read PORT --id N"},
		{"agents[0].parts.elbow=emulated", "it has elbow_flex, gripper"},
		{"servers[0].protocol=odpc", "odcp"},
		{"servers[1].listen=127.0.0.1:45454", "want an address of its own; servers[0].listen has it too"},
	} {
		for _, args := range [][]string{{"validate", "so101"}, {"doctor", "so101"},
			{"serve", "so101", "--body", "emulated"}} {
			if args[0] == "serve" && strings.Contains(c.set, "parts") {
				continue // --body clears them
			}
			code, out, errText := runApp(t, append(args, "--set", c.set)...)
			if code != 2 || !strings.Contains(errText, c.want) || out != "" {
				t.Errorf("%v, %s: got exit %d, %s%s; want 2, %q", args, c.set, code, out, errText, c.want)
			}
		}
	}
	// One fault of a bus is told once, and a robot without any hardware is one fault, not one a joint.
	for _, c := range []struct {
		args []string
		n    int
	}{
		{[]string{"validate", "so101", "--set", "buses.arm.baud=123456"}, 1},
		{[]string{"validate", "usarsim", "--body", "emulated"}, 14},
	} {
		if _, _, errText := runApp(t, c.args...); strings.Count(errText, "\n") != c.n {
			t.Errorf("%v: want %d lines, got\n%s", c.args, c.n, errText)
		}
	}
	// Over UDP and over TCP the same number is another address; any free port is never taken.
	for _, set := range []string{"servers[1]={protocol: simloid, listen: '127.0.0.1:45454'}",
		"servers[1].listen=127.0.0.1:0"} {
		c, err := configs.Load("so101", configs.Options{Set: []string{set}})
		if err != nil {
			t.Fatal(err)
		}
		r := plan.Resolver{Config: c, Catalog: builtin.Catalog()}
		if r.Listening(1, &c.Servers[1]); len(r.Faults) > 0 {
			t.Errorf("%s: got %v", set, r.Faults)
		}
	}
}

// Every type of line has its own ids.
func TestIDsOfTypes(t *testing.T) {
	for kind, last := range map[string]int{"dynamixel1": 253, "dynamixel2": 252, "kondo": 31, "cybergear": 127,
		"odrive": 1, "odrive-can": 62, "vesc": 253} {
		if got := catalog.BuiltinBuses().Of(kind).LastID; got != last {
			t.Errorf("%s: got %d, want %d", kind, got, last)
		}
	}
	path, err := doctor.WriteTrio(t.TempDir(), "cybergear", "cybergear", 1000000, 24)
	if err != nil {
		t.Fatal(err)
	}
	code, _, errText := runApp(t, "validate", path, "--set", "agents[0].hardware.joints.b.id=200")
	if code != 2 || !strings.Contains(errText, "joints.b.id: got 200, want 0..127, of type cybergear") {
		t.Errorf("got exit %d, %s", code, errText)
	}
	p := rigtest.PlanOf(t, path, configs.Options{})
	if next := nextCommand(p.Config, map[string]int{p.Agents[0].Config.Name: len(p.Agents[0].Joints)},
		[]halyard.Server{{Protocol: "odcp", Agent: "trio", Address: "127.0.0.1:45453"}}); !strings.HasPrefix(next,
		"halyard play FILE --model ") {
		t.Errorf("no motion of three joints is embedded: got %q", next)
	}
}

// Every command that prints a table prints JSON and JSON lines where it is asked for them, and errors as JSON too.
func TestTablesAsJSON(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig, err := hal.New(hal.Config{Name: "arm", Period: 1e7})
	if err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("elbow")
	if _, err := rig.Add(hal.AgentConfig{Name: "arm", Body: body, World: body}); err != nil {
		t.Fatal(err)
	}
	ctl, err := control.OpenControl(rig, control.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	// Which commands print no table: what runs until it is interrupted is tried in serve_test.go, files are no tables,
	// and commands on a servo are tried in emulate_test.go.
	none := map[string]bool{"serve": true, "emulate": true, "simloid": true, "usarsim": true, "play": true,
		"completion": true, "help": true,
		"setup": true, "set": true, "registers": true, "moast": true, "new": true, "teach": true, "supervise": true,
		"hand": true}
	tried := map[string]bool{}
	for _, line := range []string{
		"version", "configs", "ports", "list so101", "list rov", "list p2at", "validate so101", "robot so101",
		"doctor so101 --body emulated",
		"bench wire --steps 1", "status", "estop", "reset", "arm", "disarm", "scan nothere", "list nothere",
		"status nothere", "identify --check nothere --data nothere", "nml print x --nml none.nml", "shell none",
		"plan so101", "replay nothere", "export nothere --csv nowhere", "top", "record --out nowhere/x.mcap",
		"report nothere", "episodes list nothere", "teleop nothere", "move nothere elbow=1",
		"pose list nothere", "policy check nothere nothere",
		"calibrate nothere", "calibration export --dir nothere --format lerobot", "twin nothere",
	} {
		args := strings.Fields(line)
		tried[args[0]] = true
		for _, form := range []string{"json", "jsonl"} {
			code, out, errText := runApp(t, append(args, "-q", "-o", form)...)
			texts := []string{out, errText}
			if form == "jsonl" {
				texts = append(strings.Split(out, "\n"), errText)
			}
			for _, text := range texts {
				if text != "" && !json.Valid([]byte(text)) {
					t.Errorf("%s -o %s: exit %d: no JSON: %.200s", line, form, code, text)
				}
			}
			if code == 0 && form == "json" && out == "" && args[0] != "validate" && args[0] != "reset" &&
				args[0] != "arm" && args[0] != "disarm" {
				t.Errorf("%s -o json: got nothing", line)
			}
		}
	}
	for _, c := range (&app{}).root().Commands() {
		if !tried[c.Name()] && !none[c.Name()] {
			t.Errorf("%s is not tried", c.Name())
		}
	}
}

// Every config, robot and scene that is built in can be printed, to start one of one's own from, and is good as it is.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	printed := func(args ...string) string {
		code, out, errText := runApp(t, append([]string{"configs"}, args...)...)
		if code != 0 || out == "" {
			t.Fatalf("%v: exit %d: %s", args, code, errText)
		}
		path := filepath.Join(dir, strings.Join(args, "")+".yaml")
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range configs.Names() {
		if code, _, errText := runApp(t, "validate", printed(name)); code != 0 {
			t.Errorf("%s: %s", name, errText)
		}
	}
	// A period that a bus cannot meet is valid, and warned of with changes that would meet it.
	if code, _, errText := runApp(t, "validate", "so101", "--set", "clock.period=1ms"); code != 0 ||
		!strings.Contains(errText, "warning: buses.arm: a cycle of") ||
		!strings.Contains(errText, "does not fit into the period of 1 ms: its joints have new values every 2 "+
			"periods (try: ") ||
		!strings.Contains(errText, "clock.period: ") {
		t.Errorf("a period of 1 ms: got exit %d, %s", code, errText)
	}
	for _, set := range []string{"agents[0].model=" + printed("--robot", "so101"),
		"world.scene=" + printed("--scene", "hills")} {
		if code, _, errText := runApp(t, "validate", "so101", "--set", set); code != 0 {
			t.Errorf("%s: %s", set, errText)
		}
	}
	for _, name := range []string{"hobby-hexapod", "usarsim-p2at", "simloid-31", "bluerov2-heavy"} {
		printed("--robot", name)
	}
	_, out, _ := runApp(t, "configs", "-o", "jsonl")
	for line := range strings.Lines(out) {
		var row configRow
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Title == "" || len(row.Title) > longestTitle ||
			strings.HasPrefix(row.Title, "#") {
			t.Errorf("got %s: %v", line, err)
		}
	}
	for _, args := range [][]string{{"so102"}, {"--robot", "../so101"}, {"--scene", "hils"},
		{"--robot", "so101", "--scene", "flat"}, {"so101", "--robot", "so101"}} {
		if code, out, errText := runApp(t, append([]string{"configs"}, args...)...); code != 2 || out != "" ||
			!strings.Contains(errText, "halyard configs") {
			t.Errorf("%v: got exit %d, %s", args, code, errText)
		}
	}
}

// The server listens on the given port; 0 selects a free port; an invalid port is refused.
func TestUSARSimPort(t *testing.T) {
	r := start(t, "usarsim", "--port", "0", "--listen", "imageserver=127.0.0.1:0")
	if at := r.address(t, "gamebots"); strings.HasSuffix(at, ":3000") || strings.HasSuffix(at, ":0") {
		t.Errorf("got %s, want a free port", at)
	}
	for _, args := range [][]string{{"--port", "-1"}, {"--port", "99999"}, {"--ini", "nothere.ini"}} {
		if code, _, errText := runApp(t, append([]string{"usarsim"}, args...)...); code != 2 {
			t.Errorf("%v: got exit %d, %s", args, code, errText)
		}
	}
}

// What all actuators share is listed once: a battery's voltage is not eight thrusters'.
func TestListOnce(t *testing.T) {
	for _, config := range []string{"rov", "okon", "so101", "hobby-hexapod"} {
		_, out, _ := runApp(t, "list", config, "-o", "jsonl")
		seen := map[string]bool{}
		for line := range strings.Lines(out) {
			var row plan.Thing
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			if key := row.Kind + " " + row.Name; row.Kind != "body" && seen[key] {
				t.Errorf("%s: %s twice", config, key)
			} else {
				seen[key] = true
			}
		}
	}
	if _, out, _ := runApp(t, "list", "hobby-hexapod"); !strings.Contains(out, "main pca9685 0x41 channel 15") {
		t.Error("which of two boards is not told")
	}
}

// A calibration that is named and not there is told as such, once, with where to read on.
func TestCalibrationNotThere(t *testing.T) {
	for _, config := range []string{"okon", "rov", "p2at"} {
		code, _, errText := runApp(t, "serve", config, "--body", "real")
		if code != 6 || !strings.Contains(errText, ".yaml, which is not there") ||
			!strings.Contains(errText, "docs/calibration.md") ||
			!strings.Contains(errText, "halyard doctor "+config) || strings.Contains(errText, "(try: halyard doctor)") {
			t.Errorf("%s: got exit %d, %s", config, code, errText)
		}
	}
}

// The error of a wrong command line suggests the intended command, or the command's help; an unknown sub-command fails.
func TestBeginnersCommands(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"srve"}, `unknown command "srve" for "halyard"; did you mean "serve"? (try: halyard --help)`},
		{[]string{"serve", "--bdoy", "sim"}, "(try: halyard serve --help)"},
		{[]string{"validate"}, "want CONFIG (try: halyard configs)"},
		{[]string{"registers", "red", "PORT"}, `did you mean "read"? (try: halyard registers --help)`},
		{[]string{"registers", "dump", "--id", "3"}, "want PORT [FILE] (try: halyard registers dump "},
		{[]string{"play", "nope"}, "no embedded motion"},
		{[]string{"play", "."}, "a folder"},
		{[]string{"play", "wave", "--model", "nope"}, "no such robot"},
	} {
		if code, out, errText := runApp(t, c.args...); code != 2 || !strings.Contains(errText, c.says) ||
			strings.Count(errText, "\n") != 1 || out != "" {
			t.Errorf("%v: got exit %d, %s%s; want 2, %q", c.args, code, out, errText, c.says)
		}
	}
}

// The name of a robot of one's own, for a motion, is its file.
func TestRobotCalled(t *testing.T) {
	path, err := doctor.WriteTrio(t.TempDir(), "feetech", "sts3215", 1000000, 7.4)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(path), "robot.yaml")
	if r, err := model.Open(file, file); err != nil || len(r.Joints) != 3 {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(file, []byte("name: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Open(file, file); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a bad robot file: got %v", err)
	}
	p := rigtest.PlanOf(t, "so101", configs.Options{})
	p.Agents[0].Config.Model = file
	if next := nextCommand(p.Config, map[string]int{p.Agents[0].Config.Name: len(p.Agents[0].Joints)},
		[]halyard.Server{{Protocol: "odcp", Agent: "so101", Address: "127.0.0.1:45453"}}); !strings.Contains(next,
		" --model "+file) {
		t.Errorf("got %q, want the robot's file", next)
	}
}

// estop without a name stops all rigs; other orders require a name if several rigs run.
func TestStopAll(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	bodies := map[string]*haltest.Body{}
	for _, name := range []string{"left", "right"} {
		rig, err := hal.New(hal.Config{Name: name, Period: 1e7})
		if err != nil {
			t.Fatal(err)
		}
		bodies[name] = haltest.NewBody("elbow")
		if _, err := rig.Add(hal.AgentConfig{Name: "arm", Body: bodies[name], World: bodies[name]}); err != nil {
			t.Fatal(err)
		}
		ctl, err := control.OpenControl(rig, control.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		defer ctl.Close()
	}
	for _, order := range []string{"status", "arm", "reset"} {
		if code, _, errText := runApp(t, order); code != 2 ||
			!strings.Contains(errText, "left, right (try: halyard "+order+" left)") {
			t.Errorf("%s: got exit %d, %s", order, code, errText)
		}
	}
	code, out, errText := runApp(t, "estop")
	if code != 0 || strings.Count(out, "yes") != 2 || bodies["left"].Halts != 1 || bodies["right"].Halts != 1 ||
		!strings.Contains(errText, "left: stopped, latched") || !strings.Contains(errText, "right: stopped, latched") {
		t.Errorf("got exit %d\n%s%s", code, out, errText)
	}
	if _, _, errText := runApp(t, "status", "right"); !strings.Contains(errText, "STOPPED") {
		t.Errorf("status: got %s", errText)
	}
	bodies["right"].HaltErr = &hal.Error{Kind: hal.BusFault, Joint: "elbow", Err: os.ErrDeadlineExceeded}
	if code, _, errText := runApp(t, "estop"); code != 5 || !strings.Contains(errText, "cut the power") {
		t.Errorf("a mute joint of one: got exit %d, %s", code, errText)
	}
}

// A rig without agents is not armed while its stop is latched: a robot added later would be stopped all the same.
func TestArmEmptyRig(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig, err := hal.New(hal.Config{Name: "arena", Period: 1e7})
	if err != nil {
		t.Fatal(err)
	}
	ctl, err := control.OpenControl(rig, control.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	for _, c := range []struct {
		order string
		code  int
	}{{"estop", 0}, {"arm", 7}, {"reset", 0}, {"arm", 0}} {
		if code, _, errText := runApp(t, c.order); code != c.code {
			t.Errorf("%s: got exit %d, %s; want %d", c.order, code, errText, c.code)
		}
	}
}

// The same signal twice at once is one: timeout(1) sends it to the process and to its group. Anything else is a second.
func TestEchoOfSignal(t *testing.T) {
	for _, c := range []struct {
		s     os.Signal
		since time.Duration
		want  bool
	}{
		{syscall.SIGTERM, time.Millisecond, true}, {syscall.SIGTERM, echoOfSignal, false},
		{os.Interrupt, time.Millisecond, false},
	} {
		if got := echoesSignal(syscall.SIGTERM, c.s, c.since); got != c.want {
			t.Errorf("%v after %v: got %v", c.s, c.since, got)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	code := 0
	a := &app{signals: make(chan os.Signal, 2), err: os.Stderr, exit: func(c int) { code = c }}
	ended := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { a.handleSignals(cancel, ended) })
	a.signals <- syscall.SIGHUP
	a.signals <- syscall.SIGHUP // an echo
	<-ctx.Done()
	close(ended)
	if all.Wait(); code != 0 {
		t.Errorf("the same signal once more: got exit %d, want none", code)
	}
	all.Go(func() { a.handleSignals(func(error) {}, nil) })
	a.signals <- os.Interrupt
	a.signals <- syscall.SIGTERM
	if all.Wait(); code != 130 {
		t.Errorf("another signal: got exit %d, want 130", code)
	}
}

// At the end of the program of a real robot a message reports whether the joints keep their torque.
func TestParting(t *testing.T) {
	for policy, want := range map[string]string{"hold": "so101 holds: smart servos keep their torque",
		"torque_off": "so101: torque off", "park": "so101 parks"} {
		p := rigtest.PlanOf(t, "so101", configs.Options{Set: []string{"agents[0].guard.on_timeout=" + policy}})
		var text bytes.Buffer
		a := &app{err: &text}
		a.part(p.Config)
		if text.Len() > 0 {
			t.Errorf("simulated: got %s", &text)
		}
		p.Agents[0].Config.Body = configs.Real
		if a.part(p.Config); !strings.Contains(text.String(), want) {
			t.Errorf("%s: got %s", policy, &text)
		}
	}
}
