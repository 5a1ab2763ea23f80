package serial

import (
	"fmt"
	"strings"
	"time"
)

// Port is one serial adapter or built-in UART of this machine.
type Port struct {
	Device  string // "/dev/ttyUSB0"; may change at the next plugging
	Stable  string // "/dev/serial/by-id/...", for a config; Device if absent
	USB     bool
	Vendor  uint16 // USB ids, 0 where not USB
	Product uint16
	Name    string // name reported by the adapter
	Serial  string // its serial number, "" for many cheap ones
	Chip    Chip
	Denied  string // why this process may not open it; "" = it may
	Holders []Process
	Hidden  bool          // there may be holders that this process cannot see
	Latency time.Duration // FTDI's latency timer; 0 = it has none
}

// Process is a process that has a port open.
type Process struct {
	PID     int
	Command string
	files   int
}

// Held names the processes that have p open, "" if none is known.
func (p *Port) Held() string {
	if len(p.Holders) == 0 {
		return ""
	}
	return heldBy(p.Holders, p.Hidden)
}

func heldBy(held []Process, hidden bool) string {
	if len(held) == 0 && hidden {
		return "held by a process of another user, which only root can name"
	}
	if len(held) == 0 {
		return "held by a process that cannot be found, perhaps in another container"
	}
	names := make([]string, len(held))
	for i, h := range held {
		names[i] = fmt.Sprintf("pid %d (%s)", h.PID, h.Command)
	}
	return "held by " + strings.Join(names, ", ")
}

// Chip describes an adapter by its USB ids.
type Chip struct {
	Name    string
	Likely  string // typical devices with it
	MaxBaud int    // 0 = not known
}

type usbID struct{ vendor, product uint16 }

// chips are the adapters found on robots. Sources: the makers' data sheets and the kernel's ftdi_sio, ch341, cp210x
// and cdc_acm; typical devices, from the boards' makers.
var chips = [...]struct {
	usbID
	Chip
}{
	{usbID{0x0403, 0x6014}, Chip{"FT232H", "Dynamixel U2D2", 12_000_000}},
	{usbID{0x0403, 0x6001}, Chip{"FT232R", "USB2Dynamixel, generic FTDI cable", 3_000_000}},
	{usbID{0x0403, 0x6010}, Chip{"FT2232", "two-port FTDI", 12_000_000}},
	{usbID{0x0403, 0x6011}, Chip{"FT4232H", "U2D2-H, four-port FTDI", 12_000_000}},
	{usbID{0x0403, 0x6015}, Chip{"FT-X", "FTDI FT230X/FT231X", 3_000_000}},
	{usbID{0x1a86, 0x7523}, Chip{"CH340", "Feetech URT-1, Arduino clone", 2_000_000}},
	{usbID{0x1a86, 0x7522}, Chip{"CH340K", "generic", 2_000_000}},
	{usbID{0x1a86, 0x5523}, Chip{"CH341", "generic", 2_000_000}},
	{usbID{0x1a86, 0x55d3}, Chip{"CH343", "STS servo bus (Waveshare, SO-101)", 6_000_000}},
	{usbID{0x1a86, 0x55d4}, Chip{"CH9102", "ESP32 board", 4_000_000}},
	{usbID{0x10c4, 0xea60}, Chip{"CP210x", "laser scanner, ESP32 board", 3_000_000}},
	{usbID{0x10c4, 0xea70}, Chip{"CP2105", "two-port", 2_000_000}},
	{usbID{0x067b, 0x2303}, Chip{"PL2303", "generic", 6_000_000}},
	{usbID{0x067b, 0x23a3}, Chip{"PL2303G", "generic", 6_000_000}},
	{usbID{0x2341, 0x0043}, Chip{"CDC-ACM", "Arduino Uno", 0}},
	{usbID{0xfff1, 0xff48}, Chip{"CDC-ACM", "OpenCR, OpenCM", 0}},
	{usbID{0x16c0, 0x0483}, Chip{"CDC-ACM", "Teensy", 0}},
	{usbID{0x16d0, 0x06a7}, Chip{"CDC-ACM", "USB2AX", 0}},
}

// chipOf names an adapter by its USB ids, else by the kernel's driver.
func chipOf(vendor, product uint16, driver string) Chip {
	for i := range chips {
		if chips[i].usbID == (usbID{vendor, product}) {
			return chips[i].Chip
		}
	}
	switch driver {
	case "cdc_acm":
		return Chip{Name: "CDC-ACM"}
	case "ftdi_sio":
		return Chip{Name: "FTDI"}
	case "":
		return Chip{Name: "unknown"}
	}
	return Chip{Name: driver}
}

// RulesFile is the path for the text of UdevRules.
const RulesFile = "/etc/udev/rules.d/70-halyard.rules"

// linkDir is the folder of the links that UdevRules make.
const linkDir = "/dev/halyard"

// UdevRules is the part of a udev rules file for the known adapters: access for the user at the machine and for a
// group, no ModemManager, and FTDI's latency timer at 1 ms. It also links each adapter in linkDir: by its serial
// number, or by its USB socket if it has no number, as many cheap ones. The user installs it; Halyard never does.
//
// 60-serial.rules of udev itself, which comes before, sets ID_SERIAL_SHORT, ID_USB_INTERFACE_NUM and ID_PATH_TAG.
func UdevRules(group string) string {
	var b strings.Builder
	b.WriteString(`# Serial adapters of robots.
ACTION=="remove", GOTO="halyard_end"
ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"
SUBSYSTEM!="tty", GOTO="halyard_end"
`)
	for _, c := range chips {
		fmt.Fprintf(&b, "# %s: %s\n", c.Name, c.Likely)
		fmt.Fprintf(&b, `ATTRS{idVendor}=="%04x", ATTRS{idProduct}=="%04x", GROUP="%s", MODE="0660", `+
			`TAG+="uaccess", ENV{ID_MM_PORT_IGNORE}="1", ENV{HALYARD}="%s"`+"\n", c.vendor, c.product, group,
			strings.ToLower(c.Name))
	}
	dir := strings.TrimPrefix(linkDir, "/dev/")
	fmt.Fprintf(&b, `# A name that stays: %s/CHIP-SERIAL-INTERFACE, or CHIP-SOCKET of an adapter without a serial number.
ENV{HALYARD}=="", GOTO="halyard_end"
ENV{ID_SERIAL_SHORT}=="?*", SYMLINK+="%s/$env{HALYARD}-$env{ID_SERIAL_SHORT}-$env{ID_USB_INTERFACE_NUM}"
ENV{ID_SERIAL_SHORT}=="", SYMLINK+="%s/$env{HALYARD}-$env{ID_PATH_TAG}"
LABEL="halyard_end"
`, linkDir, dir, dir)
	return b.String()
}
