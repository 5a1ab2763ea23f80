package cli

import (
	"strings"
	"testing"
)

func TestScanUsage(t *testing.T) {
	for _, c := range []struct {
		code int
		args []string
		say  string
	}{
		{2, []string{"scan"}, "arg"},
		{2, []string{"scan", "p", "--protocol", "sts"},
			"want all, both or one of cybergear, dynamixel1, dynamixel2, feetech"},
		{2, []string{"scan", "p", "--baud", "0"}, "want 1.."},
		{3, []string{"scan", "/dev/no-such-port"}, "halyard ports"},
		{2, []string{"scan", "/dev/null"}, "not a serial port"},
		{2, []string{"setup", "p"}, "id"},
		{2, []string{"setup", "p", "--id", "1"}, "nothing to change"},
		{2, []string{"setup", "p", "--id", "1", "--new-id", "254"}, "want 0..253"},
		{2, []string{"setup", "p", "--id", "1", "--set", "id=3"}, "not id"},
		{3, []string{"setup", "/dev/no-such-port", "--id", "1", "--new-id", "2"}, "halyard ports"},
		{2, []string{"emulate", "xm430-arm", "--fault", "broken servo 1"}, "one of power_loss"},
		{2, []string{"emulate", "xm430-arm", "--fault", "off servo 77"}, "no emulated servo has id 77"},
		{2, []string{"emulate", "xm430-arm", "--fault", "leg: off servo 1"}, `no emulated bus "leg"`},
		{2, []string{"doctor", "no-such-config"}, "halyard configs"},
		{3, []string{"doctor", "xm430-arm", "-q", "--set", "buses.arm.port=/dev/no-such-port"}, "failed"},
	} {
		if code, _, errText := runApp(t, c.args...); code != c.code || !strings.Contains(errText, c.say) {
			t.Errorf("%v: got exit %d, %q, want %d and %q", c.args, code, errText, c.code, c.say)
		}
	}
}
