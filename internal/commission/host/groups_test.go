package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machineWith is a root folder with the groups given, and a file.
func machineWith(t *testing.T, groups ...string) (root, file string) {
	t.Helper()
	root = t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "root:x:0:\n"
	for _, g := range groups {
		text += g + ":x:7:\n"
	}
	file = filepath.Join(root, "node")
	for path, text := range map[string]string{filepath.Join(root, "etc/group"): text, file: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root, file
}

// Advice names a group that the distribution has, or creates it.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		groups        []string
		rules, header string // parts of the rules
		fix           string // for SPI
	}{
		{[]string{"dialout", "gpio", "i2c", "spi", "plugdev"}, `SUBSYSTEM=="spidev", GROUP="spi"`,
			"usermod -aG dialout,gpio,i2c,spi $USER", "usermod -aG spi $USER"},
		{[]string{"dialout", "i2c", "plugdev"}, `SUBSYSTEM=="spidev", GROUP="plugdev"`,
			"usermod -aG dialout,plugdev,i2c $USER", "usermod -aG plugdev $USER"},
		{[]string{"uucp"}, `GROUP="uucp", MODE="0660", TAG`, "#   sudo groupadd --system plugdev\n",
			"sudo groupadd --system plugdev && "},
	} {
		root, file := machineWith(t, c.groups...)
		rules := UdevRules(root)
		if !strings.Contains(rules, c.rules) || !strings.Contains(rules, c.header) {
			t.Errorf("%v: want %q and %q in\n%s", c.groups, c.rules, c.header, rules)
		}
		if got := GroupFix(root, file, "spi"); !strings.Contains(got, c.fix) {
			t.Errorf("%v: got %q, want %q", c.groups, got, c.fix)
		}
	}
	root, _ := machineWith(t, "xdialout")
	if hasGroup(root, "dialout") || !hasGroup(root, "root") {
		t.Error("a group is its whole name")
	}
}
