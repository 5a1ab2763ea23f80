package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/host"
)

// connect opens the bus, after the checks of the machine's side of it. It reports whether it could.
func (b *BusCheck) connect() bool {
	b.Check("port")
	if b.Recorded != nil {
		return b.reconnect()
	}
	if b.Kind == configs.Real && !b.Reachable() {
		return false
	}
	line, err := b.open(b.Name, b.Kind)
	if err != nil {
		b.refused(err)
		return false
	}
	b.line = line
	b.Check("latency")
	timer, fix := b.Config.Timing.LatencyTimer, "set timing.latency_timer of the bus to 1ms"
	b.latency = timer + 2*b.Config.Timing.USBFrame
	if l, ok := line.(catalog.Timed); ok {
		timer, _ = l.LatencyTimer() // opening has set it to 1 ms, where that was allowed
		b.latency = catalog.LatencyOf(b.Config.Port, line)
		fix = fmt.Sprintf("halyard ports --udev | sudo tee %s, and plug the adapter in again", serial.RulesFile)
	}
	if timer > time.Millisecond {
		b.warn("latency", fmt.Sprintf("the adapter's latency timer is %v: each answer waits up to that long", timer),
			fix)
	}
	return true
}

// Reachable reports whether there is sense in opening the bus's port, and what is in the way on the machine's side.
func (b *BusCheck) Reachable() bool {
	if !strings.HasPrefix(b.Config.Port, "/") {
		return true // a network interface or address, or a relative path: opening reports
	}
	node := filepath.Join(b.Root, b.Config.Port)
	switch b.Config.Type {
	case catalog.I2CBus:
		return b.reachableNode(node, "the bus is not switched on",
			"sudo raspi-config nonint do_i2c 0 (a Raspberry Pi), else: sudo modprobe i2c-dev", "i2c")
	case catalog.SPIBus:
		return b.reachableNode(node, "SPI is not switched on, or has no such select",
			"sudo raspi-config nonint do_spi 0 (a Raspberry Pi), else a device tree with spidev", "spi")
	}
	if b.row.Filters != nil {
		return true // an interface is no file: opening reports
	}
	ports, err := serial.List(b.Root)
	if err != nil {
		return true // no sysfs: opening reports
	}
	p := b.adapter(ports)
	if p != nil {
		return b.Usable(p)
	}
	if _, err := os.Lstat(node); errors.Is(err, fs.ErrNotExist) {
		b.fail("port", hal.Absent, b.Config.Port+" is not there"+plugged(ports), b.plugFix())
		return false
	}
	return true
}

// plugged describes what is there instead of a port that is not.
func plugged(ports []serial.Port) string {
	var names []string
	for i := range ports {
		if p := &ports[i]; p.USB {
			names = append(names, p.Stable+" ("+p.Chip.Name+")")
		}
	}
	if len(names) == 0 {
		return "; no adapter is plugged in"
	}
	return "; plugged in: " + strings.Join(names, ", ")
}

func (b *BusCheck) plugFix() string {
	return "plug the adapter in, or put its name into buses." + b.Name + ".port: halyard ports"
}

// reachableNode looks at the node of an I2C bus or a port of SPI; off is why it may be missing, fix what helps, group
// whose it is.
func (b *BusCheck) reachableNode(node, off, fix, group string) bool {
	if _, err := os.Stat(node); errors.Is(err, fs.ErrNotExist) {
		b.fail("port", hal.Absent, b.Config.Port+" is not there: "+off, fix)
		return false
	}
	b.Check("access")
	if f, err := os.OpenFile(node, os.O_RDWR, 0); errors.Is(err, fs.ErrPermission) {
		b.fail("access", hal.Busy, "permission denied: "+b.Config.Port, host.GroupFix(b.Root, node, group))
		return false
	} else if err == nil {
		f.Close() // nothing is sent by opening one
	}
	return true
}

// adapter finds the bus's port, by any of its names, among the machine's; nil where it is another kind of file, or
// not there.
func (b *BusCheck) adapter(ports []serial.Port) *serial.Port {
	device := b.Config.Port
	if d, err := filepath.EvalSymlinks(filepath.Join(b.Root, device)); err == nil {
		device = d
	}
	for i := range ports {
		if p := &ports[i]; p.Stable == b.Config.Port || filepath.Base(p.Device) == filepath.Base(device) {
			return p
		}
	}
	return nil
}

// console is the kernel's own use of a UART: its messages, and often a login.
func (b *BusCheck) console(p *serial.Port) bool {
	line, _ := os.ReadFile(filepath.Join(b.Root, "proc/cmdline"))
	for _, word := range strings.Fields(string(line)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "console="), ",")
		if strings.HasPrefix(word, "console=") && name == filepath.Base(p.Device) {
			return true
		}
	}
	return false
}

// Usable reports whether there is sense in opening p, and what is in the way. It looks before the port is opened, since
// opening raises modem lines, which resets some boards, and takes bytes from the program that uses it.
func (b *BusCheck) Usable(p *serial.Port) bool {
	b.Check("access")
	b.Check("holder")
	if p.USB {
		b.Check("conflict")
		for _, m := range host.ConflictsIn(filepath.Join(b.Root, "proc")) {
			b.warn("conflict", m.Found, m.Fix)
		}
		b.Check("name")
		if b.Config.Port == p.Device && p.Stable != p.Device {
			b.warn("name", p.Device+" may be another adapter after the next plugging", "set buses."+b.Name+".port to "+
				p.Stable)
		}
	}
	switch {
	case p.Denied != "":
		b.fail("access", hal.Busy, "permission denied: "+p.Denied, host.AccessFix(p.Denied))
		return false
	case b.console(p):
		b.fail("holder", hal.Busy, "the kernel's console is on "+p.Device,
			"take console="+filepath.Base(p.Device)+
				" out of the kernel's command line (raspi-config, Serial Port: no login shell) and restart")
		return false
	case len(p.Holders) > 0:
		for _, a := range host.PortAdvice(p) {
			if a.Found == p.Held() {
				b.fail("holder", hal.Busy, a.Found, a.Fix)
			}
		}
		return false
	}
	b.Check("rate")
	if top := p.Chip.MaxBaud; top > 0 && b.Config.Baud > top {
		b.fail("rate", hal.Invalid, fmt.Sprintf("the bus runs at %d Bd, a %s at %d at most", b.Config.Baud, p.Chip.Name,
			top),
			"use an adapter that is fast enough (FT232H, CH343), or slow the bus down: halyard setup --new-baud")
		return false
	}
	return true
}

// refused reports why the port could not be opened; the error knows the holder or the group.
func (b *BusCheck) refused(err error) {
	kind := hal.KindOf(err)
	found, fix := err.Error(), ""
	var e *hal.Error
	if errors.As(err, &e) && e.Err != nil {
		found, fix = e.Err.Error(), e.Try
	}
	switch {
	case kind == hal.Busy && strings.HasPrefix(found, "permission"):
		b.fail("access", kind, found, fix)
	case kind == hal.Busy:
		b.fail("holder", kind, found, "stop that program")
	case b.row.Filters != nil: // a CAN interface knows what brings it up
		b.fail("port", kind, found, fix)
	case kind == hal.Absent || kind == hal.Invalid:
		b.fail("port", kind, found, b.plugFix())
	default:
		b.fail("port", kind, found, "halyard ports")
	}
}
