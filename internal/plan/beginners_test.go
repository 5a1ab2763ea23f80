package plan_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/plan"
)

// What a port is called tells some ports from others; a link, a label or a terminal may be anything.
func TestPortKind(t *testing.T) {
	for port, want := range map[string]string{
		"/dev/ttyUSB0": "a serial port", "/dev/serial/by-id/usb-FTDI": "a serial port", "/dev/pts/3": "a serial port",
		"/dev/i2c-1": "an I2C bus",
		"can0":       "a CAN interface", "vcan12": "a CAN interface", "can": "", "candle": "", "arm": "",
		"/dev/halyard/FT232H": "", "pinctrl-rp1": "",
		"tcp://laser:10940": "an address of the network",
	} {
		if got := plan.PortKind(port); got != want {
			t.Errorf("%s: got %q, want %q", port, got, want)
		}
	}
}
