package serial

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// latencyFile is where the kernel keeps the latency timer of a USB adapter, in ms. Only ftdi_sio has one.
func latencyFile(root, device string) string {
	return filepath.Join(root, "sys/bus/usb-serial/devices", filepath.Base(device), "latency_timer")
}

// readLatency is the latency timer; 0 if the adapter has none or does not report it.
func readLatency(root, device string) time.Duration {
	text, err := os.ReadFile(latencyFile(root, device))
	if err != nil {
		return 0
	}
	ms, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 8)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// setLatency sets device's latency timer to 1 ms, by writing its sysfs file or else by the ioctl low, which needs no
// root. It returns the resulting timer and a note if it is not 1 ms. With FTDI's default of 16 ms every request with
// its reply would take that long.
func setLatency(root, device string, write func(file, text string) error, low func() error) (time.Duration, string) {
	switch d := readLatency(root, device); {
	case d == 0:
		return 0, "adapter has no latency timer that can be set"
	case d <= time.Millisecond:
		return d, ""
	}
	file := latencyFile(root, device)
	refused := write(file, "1\n")
	if refused != nil {
		low() // whether it helped is read back
	}
	d := readLatency(root, device)
	if d == time.Millisecond {
		return d, ""
	}
	return d, fmt.Sprintf("latency timer: got %v, want 1ms: %v; install the rules of `halyard ports --udev`, or: "+
		"echo 1 | sudo tee %s", d, refused, file)
}

// writeExisting writes text to a file that is there; it never makes one.
func writeExisting(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
