package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every kind of port that a config can name is listed, with what stands in its way.
func TestListNodes(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/class/net/can0/type": "280\n", "sys/class/net/can0/flags": "0x40080\n", "sys/class/net/can1/type": "280\n",
		"sys/class/net/can1/flags": "0x400c1\n",
		"sys/class/net/eth0/type":  "1\n",
		"dev/i2c-1":                "", "sys/class/i2c-dev/i2c-1/name": "bcm2835 (i2c@7e804000)\n", "dev/spidev0.0": "",
		"dev/gpiochip0":               "",
		"sys/class/pwm/pwmchip0/npwm": "2\n", "sys/class/pwm/pwmchip0/export": "", "dev/video0": "",
		"sys/class/video4linux/video0/name": "HD Webcam\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	byID := filepath.Join(root, "dev/v4l/by-id")
	if err := os.MkdirAll(byID, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../video0", filepath.Join(byID, "usb-HD-index0")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range listNodes(root) {
		row := strings.Join([]string{r.Type, r.Port, r.Chip, r.Access}, " ")
		for _, n := range r.Notes {
			row += "; " + n.Fix
		}
		got = append(got, row)
	}
	want := `can can0 - down; sudo ip link set can0 up type can bitrate 1000000 restart-ms 100
can can1 - ok
i2c /dev/i2c-1 bcm2835 (i2c@7e804000) ok
spi /dev/spidev0.0 - ok
gpio /dev/gpiochip0 - ok
pwm /sys/class/pwm/pwmchip0 - 2 outputs ok
camera /dev/v4l/by-id/usb-HD-index0 HD Webcam ok`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	rows, err := ListPorts(root)
	if err != nil || len(rows) != 7 {
		t.Errorf("ports: got %d rows, %v, want 7", len(rows), err)
	}
}
