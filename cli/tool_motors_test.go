package cli

import (
	"strings"
	"testing"
)

// The commands, on lines that are not there.
func TestMotorToolsRefuse(t *testing.T) {
	for _, c := range []struct {
		code int
		args []string
		say  string
	}{
		{3, []string{"registers", "read", "/dev/no-such-port", "--id", "0", "--protocol", "odrive"}, "halyard ports"},
		{3, []string{"registers", "read", "nocan7", "--id", "1", "--protocol", "cybergear"}, "ip link set nocan7 up"},
		{3, []string{"setup", "nocan7", "--id", "1", "--new-id", "2", "--protocol", "odrive-can"},
			"ip link set nocan7 up"},
	} {
		if code, _, text := runApp(t, c.args...); code != c.code || !strings.Contains(text, c.say) {
			t.Errorf("%v: got exit %d, %s; want %d and %q", c.args, code, text, c.code, c.say)
		}
	}
}
