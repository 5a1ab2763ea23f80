package cli

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// The commands, on a pty, as a person types them.
func TestRegistersEndToEnd(t *testing.T) {
	dir := t.TempDir()
	_, stop := emulated(t, "xm430-arm", "--dir", dir)
	defer stop()
	port, file := filepath.Join(dir, "arm"), filepath.Join(dir, "elbow.json")
	quick := []string{"--baud", "1000000", "--protocol", "dynamixel2"}
	for _, c := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{"read", port, "--id", "3", "present_voltage", "baud_rate"}, 0, "1000000 Bd"},
		{[]string{"dump", port, "--id", "3", file}, 0, "registers saved"},
		{[]string{"write", port, "--id", "3", "return_delay=25", "max_voltage=14V"}, 0, "50µs"},
		{[]string{"write", port, "--id", "3", "return_delay=99", "-n"}, 0, "dry run"},
		{[]string{"diff", port, "--id", "3", file}, 8, "return_delay  25    50µs"},
		{[]string{"diff", port, "--id", "3", "4"}, 8, "ID 4"},
		{[]string{"restore", port, "--id", "3", file}, 0, "2 registers set back"},
		{[]string{"diff", port, "--id", "3", file}, 0, ""},
		{[]string{"read", port, "--id", "9"}, 3, "halyard scan"},
		{[]string{"read", port, "--id", "300"}, 2, "0..253"},
		{[]string{"read", port}, 2, "id"},
		{[]string{"write", port, "--id", "3", "id=4"}, 7, "halyard setup"},
		{[]string{"diff", port, "--id", "3", filepath.Join(dir, "none.json")}, 3, "no such file"},
	} {
		code, out, errText := typed(t,
			func(code int, text string) bool { return code == c.code && strings.Contains(text, c.say) },
			append(append([]string{"registers"}, c.args...), quick...)...)
		if code != c.code || !strings.Contains(out+errText, c.say) {
			t.Errorf("%v: got exit %d, %s%s; want %d and %q", c.args, code, out, errText, c.code, c.say)
		}
	}
	code, out, _ := typed(t, rigtest.Exits(0),
		append([]string{"registers", "read", port, "--id", "3", "max_voltage", "-o", "json"}, quick...)...)
	var got struct{ Items []commission.RegisterRow }
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Items) != 1 ||
		got.Items[0].Raw != 160 ||
		math.Abs(float64(got.Items[0].Value)-16) > 1e-9 || got.Items[0].Unit != "V" || got.Items[0].Access != "eeprom" {
		t.Errorf("json: got %d, %s, %v", code, out, err)
	}
}
