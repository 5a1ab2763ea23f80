package cli

import (
	"strings"
	"testing"
)

func TestPortsCommand(t *testing.T) {
	if code, out, _ := runApp(t, "ports", "--udev"); code != 0 || !strings.Contains(out, "ID_MM_PORT_IGNORE") {
		t.Errorf("--udev: exit %d, %s", code, out)
	}
	if code, out, _ := runApp(t, "ports", "-o", "json"); code != 0 || !strings.Contains(out, `"items"`) {
		t.Errorf("json: exit %d, %s", code, out)
	}
}
