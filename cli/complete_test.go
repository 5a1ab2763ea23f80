package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
)

// offered is what a shell would offer for the last of args.
func offered(t *testing.T, args ...string) []string {
	t.Helper()
	code, out, errText := runApp(t, append([]string{"__complete"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit %d, %s", args, code, errText)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1] // the last is for the shell
}

func TestCompletion(t *testing.T) {
	t.Chdir(t.TempDir())
	data, _ := configs.Embedded("lx16a-arm")
	if err := os.WriteFile("mine.yaml", data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string // the last is what is begun, "_" nothing
		want string // what is offered, among others
		not  string
	}{
		{"scan _", "so101:arm", "a-series:nothing"}, {"scan m", "mine.yaml:arm", ""},
		{"setup so101:", "so101:arm", "lx16a-arm:arm"},
		{"setup mine.yaml:", "mine.yaml:arm", "so101:arm"}, {"registers read so1", "so101:arm", ""},
		{"scan nothing:", "", "nothing:arm"},
		{"setup so101:arm --id _", "3\telbow_flex, sts3215", "7"},
		{"registers read so101:arm --id _", "6\tgripper, sts3215", ""},
		{"registers read so101:arm --id 3 _", "present_voltage", "cw_angle_limit"},
		{"registers read so101:arm --id 3 max_", "max_voltage", ""},
		{"registers write so101:arm --id 3 _", "max_voltage=", "present_voltage="},
		{"registers write so101:arm --id 3 _", "torque_enable=", "goal_position="},
		{"registers write nowhere --id 3 _", "", "max_voltage="},
		{"registers write can0 --id 3 --protocol cybergear max_", "max_torque=", ""},
		{"registers read /dev/ttyUSB0 --id 3 --protocol dynamixel1 _", "cw_angle_limit", ""},
		{"registers read /dev/ttyUSB0 --protocol vesc --id 1 e", "electrical_rpm", ""},
		{"scan x --protocol _", "cybergear", "serial"}, {"scan x --serial-backend _", "tarm", ""},
		{"serve so101 --body _", "emulated", ""},
		{"list so101 -o _", "jsonl", ""}, {"serve _", "so101", ""},
	} {
		args := strings.Fields(c.args)
		if last := len(args) - 1; args[last] == "_" {
			args[last] = ""
		}
		got := offered(t, args...)
		if c.want != "" && !slices.Contains(got, c.want) || c.not != "" && slices.Contains(got, c.not) {
			t.Errorf("%s: got %q, want %q and not %q", c.args, got, c.want, c.not)
		}
	}
	if code, out, _ := runApp(t, "completion", "bash"); code != 0 || !strings.Contains(out, "__complete") {
		t.Errorf("bash: exit %d, %.80q", code, out)
	}
}

// A port that is not a servo line, or has no servo on it, ends with its exit code and a next command.
func TestNoLine(t *testing.T) {
	t.Parallel() // it mostly waits for servos that are not there
	dir := t.TempDir()
	_, stop := emulated(t, "pendulum", "--dir", dir)
	defer stop()
	line := filepath.Join(dir, "line")
	for _, c := range []struct {
		code int
		port string
		more string
		say  string
	}{
		{3, "/dev/no-such-port", "", "halyard ports"}, {2, "/dev/null", "", "halyard ports"},
		{2, dir, "", "halyard ports"},
		{2, "lo", "", "--protocol odrive-can"}, {3, "nocan7", "--protocol cybergear", "ip link set nocan7 up"},
		{2, "no-such-config:arm", "", "halyard configs"}, {2, "pendulum:leg", "", "halyard list pendulum"},
	} {
		for _, command := range []string{"scan", "registers read --id 1", "setup --id 1 --new-id 2"} {
			args := append(strings.Fields(command), strings.Fields(c.port+" "+c.more)...)
			if code, _, text := runApp(t, args...); code != c.code || !strings.Contains(text, c.say) {
				t.Errorf("%v: got exit %d, %s; want %d and %q", args, code, text, c.code, c.say)
			}
		}
	}
	for command, want := range map[string]struct {
		code int
		say  string
	}{
		"scan --protocol hiwonder":                       {5, "halyard ports"},
		"registers read --id 1 --protocol hiwonder":      {3, "halyard scan"},
		"setup --id 1 --new-id 2 --protocol hiwonder":    {3, "halyard scan"},
		"scan --protocol vesc":                           {5, "halyard ports"},
		"registers read --id 1 --protocol vesc":          {3, "--protocol vesc"},
		"setup --id 1 --protocol odrive --new-id 2":      {3, "--protocol odrive"},
		"setup --id 1 --protocol vesc --new-id 2":        {2, "VESC Tool"},
		"registers read --id 1 i2c --protocol cybergear": {3, "ip link"},
	} {
		args := append(strings.Fields(command), line)
		if strings.Contains(command, "cybergear") {
			args = []string{"registers", "read", "nocan7", "--id", "1", "--protocol", "cybergear"}
		}
		if code, _, text := runApp(t, args...); code != want.code || !strings.Contains(text, want.say) {
			t.Errorf("%v: got exit %d, %s; want %d and %q", args, code, text, want.code, want.say)
		}
	}
}
