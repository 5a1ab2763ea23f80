package serial

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
)

// tree builds a folder of files (name: content) and symlinks (name: "-> target").
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o660)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// machine has a U2D2 that a program holds, an SO-101 board without a serial number, a UART, a UART that is not
// there, and a console.
var machine = map[string]string{
	"sys/class/tty/ttyUSB0":                                   "-> ../../devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0",
	"sys/devices/usb1/idVendor":                               "1d6b\n",
	"sys/devices/usb1/1-1/idVendor":                           "0403\n",
	"sys/devices/usb1/1-1/idProduct":                          "6014\n",
	"sys/devices/usb1/1-1/product":                            "USB <-> Serial Converter\n",
	"sys/devices/usb1/1-1/serial":                             "FT4THVLA\n",
	"sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/driver":             "-> ../../../../../bus/usb-serial/drivers/ftdi_sio",
	"sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0/device": "-> ../../../ttyUSB0",
	"sys/bus/usb-serial/drivers/ftdi_sio/bind":                "",
	"sys/bus/usb-serial/devices/ttyUSB0/latency_timer":        "16\n",
	"dev/ttyUSB0": "",
	"dev/serial/by-id/usb-FTDI_FT4THVLA-if00-port0":    "-> ../../ttyUSB0",
	"dev/serial/by-path/pci-0000:00-usb-0:1:1.0-port0": "-> ../../ttyUSB0",
	"sys/class/tty/ttyACM10":                           "-> ../../devices/usb1/1-2/1-2:1.0/tty/ttyACM10",
	"sys/devices/usb1/1-2/idVendor":                    "1a86\n",
	"sys/devices/usb1/1-2/idProduct":                   "55d3\n",
	"sys/devices/usb1/1-2/1-2:1.0/driver":              "-> ../../../../bus/usb/drivers/cdc_acm",
	"sys/devices/usb1/1-2/1-2:1.0/tty/ttyACM10/device": "-> ../../../1-2:1.0",
	"dev/ttyACM10": "",
	"dev/serial/by-path/pci-0000:00-usb-0:2:1.0": "-> ../../ttyACM10",
	"dev/serial/by-id/usb-1a86_USB_Serial-if00":  "-> ../../ttyACM10", // which its twin would have as well
	"sys/class/tty/ttyAMA0/device/driver":        "-> ../../../../bus/amba/drivers/uart-pl011",
	"sys/class/tty/ttyS0/type":                   "0\n",
	"sys/class/tty/ttyS0/device/driver":          "-> ../serial8250",
	"sys/class/tty/tty1/dev":                     "4:1\n",
	"proc/1/fd/0":                                "-> /dev/null",
	"proc/812/fd/7":                              "-> /dev/ttyUSB0",
	"proc/812/fd/8":                              "-> /dev/ttyUSB0",
	"proc/812/cmdline":                           "python3\x00-m\x00lerobot\x00",
	"proc/99/fd/3":                               "-> /dev/ttyUSB0",
	"proc/99/cmdline":                            "",
	"proc/99/comm":                               "ModemManager\n",
	"proc/self/fd/3":                             "-> /dev/ttyUSB0",
}

func TestList(t *testing.T) {
	root := tree(t, machine)
	ports, err := List(root)
	if err != nil || len(ports) != 3 {
		t.Fatalf("got %d ports, %v, want 3: %+v", len(ports), err, ports)
	}
	usb, acm, uart := ports[0], ports[1], ports[2]
	if usb.Device != "/dev/ttyUSB0" || usb.Stable != "/dev/serial/by-id/usb-FTDI_FT4THVLA-if00-port0" ||
		usb.Vendor != 0x0403 || usb.Product != 0x6014 || usb.Serial != "FT4THVLA" ||
		usb.Chip.Name != "FT232H" || !strings.Contains(usb.Chip.Likely, "U2D2") ||
		usb.Latency != 16*time.Millisecond || usb.Denied != "" || usb.Hidden {
		t.Errorf("U2D2: got %+v", usb)
	}
	if want := "held by pid 99 (ModemManager), pid 812 (python3 -m lerobot)"; usb.Held() != want {
		t.Errorf("holder: got %q, want %q", usb.Held(), want)
	}
	if acm.Device != "/dev/ttyACM10" || acm.Stable != "/dev/serial/by-path/pci-0000:00-usb-0:2:1.0" ||
		acm.Chip.Name != "CH343" || acm.Held() != "" || acm.Latency != 0 {
		t.Errorf("CH343: got %+v", acm)
	}
	if uart.Device != "/dev/ttyAMA0" || uart.Stable != uart.Device || uart.USB || uart.Chip.Name != "uart-pl011" ||
		!strings.Contains(uart.Denied, "no such file") {
		t.Errorf("UART: got %+v", uart)
	}
	if _, err := List(t.TempDir()); err == nil {
		t.Error("no sysfs: want an error")
	}
}

func TestStableName(t *testing.T) {
	root := tree(t, machine)
	for path, want := range map[string]string{
		"/dev/ttyUSB0":         "/dev/serial/by-id/usb-FTDI_FT4THVLA-if00-port0",
		"/dev/ttyACM10":        "/dev/serial/by-path/pci-0000:00-usb-0:2:1.0",
		"/dev/ttyUSB5":         "/dev/ttyUSB5",
		"/dev/serial/by-id/no": "/dev/serial/by-id/no",
	} {
		if got := stableName(root, path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// Our own link is preferred to the USB socket, and to by-id where that is ambiguous.
func TestStableLinks(t *testing.T) {
	files := map[string]string{"dev/halyard/ch343-pci-0_usb-0_2": "-> ../ttyACM10",
		"dev/halyard/ft232h-FT4THVLA-00": "-> ../ttyUSB0",
		// of a udev rule, and of a user
		"dev/arm": "-> ttyUSB0", "home/arm": "-> ../dev/ttyUSB0"}
	for name, content := range machine {
		files[name] = content
	}
	root := tree(t, files)
	for path, want := range map[string]string{
		"/dev/ttyUSB0":                     "/dev/serial/by-id/usb-FTDI_FT4THVLA-if00-port0",
		"/dev/ttyACM10":                    "/dev/halyard/ch343-pci-0_usb-0_2",
		"/dev/halyard/ch343-pci-0_usb-0_2": "/dev/halyard/ch343-pci-0_usb-0_2",
		"/dev/arm":                         "/dev/arm", "/home/arm": "/dev/serial/by-id/usb-FTDI_FT4THVLA-if00-port0",
	} {
		if got := stableName(root, path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	// Every line of the rules is one that udev can read: KEY OP "VALUE", by commas.
	for line := range strings.Lines(UdevRules("dialout")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(line), ", ") {
			if ok, err := regexp.MatchString(`^[A-Z]+(\{[A-Za-z_]+\})?(==|!=|=|\+=)"[^"]*"$`, part); err != nil || !ok {
				t.Errorf("%q: not a rule", part)
			}
		}
	}
}

func TestHeldUnknown(t *testing.T) {
	if s := heldBy(nil, true); !strings.Contains(s, "only root can name") {
		t.Error(s)
	}
	if s := heldBy(nil, false); !strings.Contains(s, "cannot be found") {
		t.Error(s)
	}
	if held, hidden := holders(filepath.Join(t.TempDir(), "none"), "/dev/ttyUSB0"); held != nil || !hidden {
		t.Error("without proc nothing is known", held, hidden)
	}
}

func TestNoPermission(t *testing.T) {
	node := filepath.Join(tree(t, map[string]string{"ttyUSB0": ""}), "ttyUSB0")
	if err := os.Chown(node, -1, 20); err != nil {
		t.Skip("needs root to give a file away: ", err)
	}
	group := groupOf(node) // "dialout" where the system has that name
	os.Chmod(node, 0o660)
	err := openFault(node, node, os.ErrPermission)
	if e := new(hal.Error); hal.KindOf(err) != hal.Busy || !errors.As(err, &e) ||
		!strings.Contains(e.Try, "usermod -aG "+group+" $USER") ||
		!strings.Contains(err.Error(), `not in group "`+group+`"`) {
		t.Errorf("got %v", err)
	}
	os.Chmod(node, 0o600)
	if s := denial(node); !strings.Contains(s, "mode -rw-------") {
		t.Errorf("mode: got %q", s)
	}
}

func TestLatency(t *testing.T) {
	const file = "sys/bus/usb-serial/devices/ttyUSB0/latency_timer"
	for _, c := range []struct {
		name, was, answer string
		locked            bool // sysfs refuses
		want              time.Duration
		note              string
		calls             int
	}{
		{name: "none", note: "no latency timer"},
		{name: "already", was: "1\n", want: time.Millisecond},
		{name: "sysfs", was: "16\n", want: time.Millisecond},
		{name: "ioctl", was: "16\n", locked: true, answer: "1\n", want: time.Millisecond, calls: 1},
		{name: "neither", was: "16\n", locked: true, answer: "16\n", want: 16 * time.Millisecond,
			note: "got 16ms, want 1ms", calls: 1},
		{name: "nonsense", was: "soon\n", note: "no latency timer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			if c.was != "" {
				files[file] = c.was
			}
			root := tree(t, files)
			path := filepath.Join(root, file)
			write, calls := writeExisting, 0
			if c.locked {
				write = func(string, string) error { return os.ErrPermission }
			}
			low := func() error { // stands for the driver, which sets its own file
				calls++
				return os.WriteFile(path, []byte(c.answer), 0o600)
			}
			d, note := setLatency(root, "/dev/ttyUSB0", write, low)
			if d != c.want || (note == "") != (c.note == "") || !strings.Contains(note, c.note) || calls != c.calls {
				t.Errorf("got %v, %q, %d calls; want %v, %q, %d", d, note, calls, c.want, c.note, c.calls)
			}
		})
	}
}

func TestUdevRules(t *testing.T) {
	rules := UdevRules("dialout")
	for _, want := range []string{
		`ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6014", GROUP="dialout", MODE="0660", TAG+="uaccess"`,
		`ATTR{latency_timer}="1"`, `ID_MM_PORT_IGNORE`, `LABEL="halyard_end"`, `ENV{HALYARD}="ft232h"`,
		`ENV{ID_SERIAL_SHORT}=="?*", SYMLINK+="halyard/$env{HALYARD}-$env{ID_SERIAL_SHORT}-$env{ID_USB_INTERFACE_NUM}"`,
		`SYMLINK+="halyard/$env{HALYARD}-$env{ID_PATH_TAG}"`,
	} {
		if !strings.Contains(rules, want) {
			t.Errorf("rules lack %s", want)
		}
	}
	if strings.Contains(rules, "0666") {
		t.Error("rules open the ports to all users")
	}
}

// The kernel's struct serial_struct, whose size the ioctl does not carry.
func TestSerialStruct(t *testing.T) {
	want := map[uintptr]uintptr{4: 60, 8: 72}[unsafe.Sizeof(uintptr(0))]
	if got := unsafe.Sizeof(serialStruct{}); got != want {
		t.Errorf("size: got %d, want %d", got, want)
	}
	_, slave := openPTY(t)
	if err := open(t, slave, 9600, "").ctl.lowLatency(); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("on a pty: got %v, want %v", err, unix.ENOTTY)
	}
}
