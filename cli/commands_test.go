package cli

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/catalog"
)

// everyCommand returns all commands below c, by the words that one types.
func everyCommand(c *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		_, name, _ := strings.Cut(sub.CommandPath(), " ")
		all[name] = sub
		maps.Copy(all, everyCommand(sub))
	}
	return all
}

// A command's short line is an imperative of at most 60 characters.
func TestShortLines(t *testing.T) {
	verbs := strings.Fields("assign check clear command compare enable find list move play predict print read record " +
		"report run save serve set show switch test write")
	all := everyCommand((&app{}).root())
	for name, c := range all {
		if strings.HasPrefix(name, "completion ") {
			continue // cobra's own
		}
		verb, _, _ := strings.Cut(strings.TrimSuffix(c.Short, ","), " ")
		if n := len([]rune(c.Short)); n == 0 || n > 60 || !slices.Contains(verbs, strings.TrimSuffix(verb, ",")) ||
			strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: got %q (%d characters), want 1..60 that begin with one of %v", name, c.Short, n, verbs)
		}
	}
	if len(all) < 27 {
		t.Errorf("got %d commands, want 27 or more", len(all))
	}
}

// A command without an argument that it needs, or with one too many, names its arguments and shows what to type.
func TestArguments(t *testing.T) {
	for line, want := range map[string]string{
		"emulate":   "emulate: got 0 arguments, want CONFIG (try: halyard configs)",
		"validate":  "validate: got 0 arguments, want CONFIG (try: halyard configs)",
		"list a b":  "list: got 2 arguments, want CONFIG (try: halyard configs)",
		"doctor":    "doctor: got 0 arguments, want CONFIG (try: halyard configs)",
		"scan":      "scan: got 0 arguments, want PORT (try: halyard ports)",
		"play":      "play: got 0 arguments, want FILE|NAME (try: halyard play wave)",
		"setup":     "setup: got 0 arguments, want CONFIG:BUS|PORT (try: halyard setup so101:arm)",
		"serve a b": "serve: got 2 arguments, want [CONFIG] (try: halyard serve so101)",
		"estop a b": "estop: got 2 arguments, want [RIG] (try: halyard estop)",
		"ports x":   "ports: got 1 argument, want none (try: halyard ports)",
		"registers read --id 1": "registers read: got 0 arguments, want PORT [NAME...] (try: halyard " +
			"registers read /dev/ttyUSB0 --id 1 present_position)",
		"registers write --id 1 x": "registers write: got 1 argument, want PORT NAME=VALUE... (try: halyard " +
			"registers write /dev/ttyUSB0 --id 1 torque_enable=0)",
		"registers dump --id 1": "registers dump: got 0 arguments, want PORT [FILE] (try: halyard " +
			"registers dump /dev/ttyUSB0 --id 1 elbow.json)",
		"registers restore --id 1 a": "registers restore: got 1 argument, want PORT FILE (try: halyard " +
			"registers restore /dev/ttyUSB0 --id 1 elbow.json)",
		"registers diff --id 1 a b c": "registers diff: got 3 arguments, want PORT [FILE|ID] (try: halyard " +
			"registers diff /dev/ttyUSB0 --id 1 elbow.json)",
		"replay":     "replay: got 0 arguments, want FILE (try: halyard replay run.mcap)",
		"export a b": "export: got 2 arguments, want FILE (try: halyard export run.mcap --csv run)",
		"calibration export": "calibration export: got no --dir, want a folder of calibration files " +
			"(try: halyard calibration export --dir calibration)",
		"calibration import x --dir d": "calibration import: got no --config, want the config of the robot (try: " +
			"halyard calibration import so101.json --config so101 --dir calibration)",
		"calibration imprt": `unknown command "imprt" for "halyard calibration"; did you mean "import"? (try: halyard calibration --help)`,
		"nml x":             `unknown command "x" for "halyard nml" (try: halyard nml --help)`,
		"registers raed":    `unknown command "raed" for "halyard registers"; did you mean "read"? (try: halyard registers --help)`,
		"completion x":      `unknown command "x" for "halyard completion" (try: halyard completion --help)`,
		"help x":            `unknown command "x" for "halyard" (try: halyard --help)`,
		"scan /dev/ttyUSB0 --protocol x": `--protocol: got "x", want all, both or one of ` +
			strings.Join(catalog.BuiltinBuses().Names(), ", "),
		"scan /dev/i2c-1 --baud 9600": "scan /dev/i2c-1: got --baud, want it with a serial or CAN port (try: " +
			"halyard scan /dev/i2c-1)",
		"doctor so101 --listen osp=:0": "unknown flag: --listen",
	} {
		code, out, err := runApp(t, strings.Fields(line)...)
		if code != 2 || out != "" || !strings.HasPrefix(err, "halyard: "+want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%s: got exit %d, %q\n%s\nwant 2 and halyard: %s", line, code, out, err, want)
		}
	}
}

// A second signal speaks of torque only where something runs that has torque.
func TestAbandon(t *testing.T) {
	var said strings.Builder
	a := &app{err: &said}
	a.abandon()
	if got := said.String(); got != "halyard: not waiting any longer\n" {
		t.Errorf("nothing runs: got %q", got)
	}
	off := false
	torqueOff := func() { off = true }
	a.torqueOff.Store(&torqueOff)
	said.Reset()
	if a.abandon(); said.String() != "halyard: not waiting any longer: torque off\n" || !off {
		t.Errorf("a rig runs: got %q, torque off: %v", said.String(), off)
	}
}

// A sub-command that has begun counts as started, whichever command it belongs to: its errors are not misuse.
func TestSubcommandsStart(t *testing.T) {
	for _, path := range [][]string{{"nml", "print"}, {"nml", "modules"}, {"registers", "read"}, {"version"}} {
		a := &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
		c, _, err := a.root().Find(path)
		if err != nil {
			t.Fatal(err)
		}
		c.RunE(c, []string{"none"}) // its error is not what is tested
		if !a.started {
			t.Errorf("%q: not started", path)
		}
	}
}
