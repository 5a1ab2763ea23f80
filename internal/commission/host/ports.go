package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// PortRow is one port of a config: a serial adapter or UART, a CAN interface, an I2C bus, an SPI port, a chip of GPIO
// or PWM, a camera, as the kernel and its files describe it.
type PortRow struct {
	Type    string        `json:"type"`   // serial, can, i2c, spi, gpio, pwm, camera
	Port    string        `json:"port"`   // what belongs into a config
	Device  string        `json:"device"` // what it is called today
	Chip    string        `json:"chip"`
	Serial  string        `json:"serial,omitempty"`
	Access  string        `json:"access"` // ok, or denied
	Held    string        `json:"held_by"`
	Latency report.Number `json:"latency_ms"` // null where the adapter has no latency timer
	MaxBaud int           `json:"max_baud,omitempty"`
	Likely  string        `json:"likely"`
	Notes   []advice      `json:"notes,omitempty"`
}

// advice is something wrong and what to do about it.
type advice struct {
	Found string `json:"found"`
	Fix   string `json:"fix"`
}

func (p PortRow) Cells() report.Cells {
	return report.Cells{{"type", p.Type}, {"port", p.Port}, {"device", p.Device}, {"chip", p.Chip},
		{"access", p.Access},
		{"in use by", cmp.Or(p.Held, "-")}, {"latency ms", p.Latency}, {"typical device", p.Likely}}
}

// ListPorts describes every port of the machine whose files stand under root. None is no error, nor is a system that
// knows no serial ports, such as a container. No port is opened.
func ListPorts(root string) ([]PortRow, error) {
	ports, err := serial.List(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &hal.Error{Kind: hal.Absent, Op: "list ports", Err: err}
	}
	conflicts := ConflictsIn(filepath.Join(root, "proc"))
	rows := []PortRow{}
	for i := range ports {
		p := &ports[i]
		r := PortRow{
			Type: "serial", Port: p.Stable, Device: p.Device, Chip: p.Chip.Name, Serial: p.Serial, Access: "ok",
			Latency: report.Number(math.NaN()), MaxBaud: p.Chip.MaxBaud, Likely: p.Chip.Likely, Notes: PortAdvice(p),
		}
		if p.Denied != "" {
			r.Access = "denied"
		}
		if p.Latency > 0 {
			r.Latency = report.Number(p.Latency.Milliseconds())
		}
		r.Held = strings.TrimPrefix(p.Held(), "held by ")
		if p.USB {
			r.Notes = append(r.Notes, conflicts...)
		}
		rows = append(rows, r)
	}
	return append(rows, listNodes(root)...), nil
}

// PortAdvice is, in the order in which it must be put right, what is between a user and the port, each with what to do.
func PortAdvice(p *serial.Port) []advice {
	var list []advice
	if p.Denied != "" {
		list = append(list, advice{p.Denied, AccessFix(p.Denied)})
	}
	if len(p.Holders) > 0 {
		pids := make([]string, len(p.Holders))
		for i, h := range p.Holders {
			pids[i] = strconv.Itoa(h.PID)
		}
		list = append(list, advice{p.Held(), "stop it: kill " + strings.Join(pids, " ")})
	}
	if p.Latency > time.Millisecond {
		list = append(list, advice{
			fmt.Sprintf("latency timer is %v: each answer waits that long", p.Latency),
			fmt.Sprintf("echo 1 | sudo tee /sys/bus/usb-serial/devices/%s/latency_timer, or for good: halyard ports "+
				"--udev",
				filepath.Base(p.Device)),
		})
	}
	return list
}

// AccessFix returns the fix of a denied access: group membership where the group is known, else rules that give access
// to the user logged in at the machine.
func AccessFix(denied string) string {
	if _, group, ok := strings.Cut(denied, "not in group "); ok {
		return "sudo usermod -aG " + strings.Trim(group, `"`) + " $USER and log in again, or: halyard ports --udev"
	}
	return "halyard ports --udev | sudo tee " + serial.RulesFile
}

// conflictingDaemons are daemons that open serial adapters by themselves and talk to what is connected to them.
var conflictingDaemons = [...]struct{ process, does, fix string }{
	{"ModemManager", "it sends AT commands to new adapters",
		"halyard ports --udev prints rules that exclude the port, or: sudo systemctl disable --now ModemManager"},
	{"brltty", "it takes CH340 and CP210x adapters for Braille displays",
		"sudo systemctl disable --now brltty-udev brltty"},
}

// ConflictsIn lists the conflicts that run, by the process names under proc.
func ConflictsIn(proc string) []advice {
	var list []advice
	entries, _ := os.ReadDir(proc) // what cannot be read is not known to run
	for _, m := range conflictingDaemons {
		for _, e := range entries {
			if _, err := strconv.Atoi(e.Name()); err != nil {
				continue
			}
			// The kernel cuts comm at 15 bytes; no name here is longer.
			if read(proc, e.Name(), "comm") == m.process {
				list = append(list, advice{fmt.Sprintf("%s runs (pid %s): %s", m.process, e.Name(), m.does), m.fix})
				break
			}
		}
	}
	return list
}
