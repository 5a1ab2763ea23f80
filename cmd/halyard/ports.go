package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
)

// machineRoot is where /sys, /proc and /dev of this machine stand; tests have a folder instead.
const machineRoot = "/"

// portRow is one serial adapter, or a built-in UART, as the kernel and its files describe it.
type portRow struct {
	Port    string   `json:"port"`   // what belongs into a config
	Device  string   `json:"device"` // what it is called today
	Chip    string   `json:"chip"`
	Serial  string   `json:"serial,omitempty"`
	Access  string   `json:"access"` // ok, or denied
	Held    string   `json:"held_by"`
	Latency number   `json:"latency_ms"` // null where the adapter has no latency timer
	MaxBaud int      `json:"max_baud,omitempty"`
	Likely  string   `json:"likely"`
	Notes   []advice `json:"notes,omitempty"`
}

// advice is something wrong and what to do about it.
type advice struct {
	Found string `json:"found"`
	Fix   string `json:"fix"`
}

func (portRow) header() []string {
	return []string{"port", "device", "chip", "access", "held by", "latency ms", "likely"}
}

func (p portRow) cells() []string {
	held := p.Held
	if held == "" {
		held = "-"
	}
	return []string{p.Port, p.Device, p.Chip, p.Access, held, p.Latency.String(), p.Likely}
}

func newPorts(a *app) *cobra.Command {
	var udev, watch bool
	c := &cobra.Command{
		Use:   "ports",
		Short: "serial adapters of this machine: stable name, chip, access, who holds each",
		Long: "The name to write into a config is the first: it stays when the adapter is plugged in again. No port is opened.\n" +
			"What stands between you and a port is told with its fix. Which of two adapters is which: --watch, and pull one out.",
		Example: "  halyard ports --watch\n  halyard ports --udev | sudo tee " + serial.RulesFile,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if udev && watch {
				return &hal.Error{Kind: hal.Invalid, Op: "ports", Err: errors.New("got --udev and --watch, want one of them")}
			}
			if watch {
				tick := time.NewTicker(watchPulse)
				defer tick.Stop()
				return a.watchPorts(cmd.Context(), machineRoot, tick.C)
			}
			if udev {
				_, err := io.WriteString(a.out, serial.UdevRules())
				return err
			}
			rows, err := listPorts(machineRoot)
			if err != nil {
				return err
			}
			if err := show(a, rows); err != nil {
				return err
			}
			for _, r := range rows {
				for _, n := range r.Notes {
					a.note("! %s: %s.  Fix: %s", r.Device, n.Found, n.Fix)
				}
			}
			if len(rows) == 0 {
				a.note("no serial adapter is plugged in. Without hardware: halyard emulate xm430-arm")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&udev, "udev", false, "print the udev rules that give access, short latency and stable names; you install them")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "tell what is plugged in and pulled out, until Ctrl-C")
	return c
}

// listPorts describes every adapter of the machine whose files stand under root. None is no error, nor is a system that
// knows no serial ports, such as a container. No port is opened.
func listPorts(root string) ([]portRow, error) {
	ports, err := serial.List(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &hal.Error{Kind: hal.Absent, Op: "list ports", Err: err}
	}
	meddlers := meddlersIn(filepath.Join(root, "proc"))
	rows := []portRow{}
	for i := range ports {
		p := &ports[i]
		r := portRow{
			Port: p.Stable, Device: p.Device, Chip: p.Chip.Name, Serial: p.Serial, Access: "ok", Latency: number(math.NaN()),
			MaxBaud: p.Chip.MaxBaud, Likely: p.Chip.Likely, Notes: portAdvice(p),
		}
		if p.Denied != "" {
			r.Access = "denied"
		}
		if p.Latency > 0 {
			r.Latency = number(p.Latency.Milliseconds())
		}
		r.Held = strings.TrimPrefix(p.Held(), "held by ")
		if p.USB {
			r.Notes = append(r.Notes, meddlers...)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// portAdvice is, in the order in which it must be put right, what stands between a user and the port, each with what to do.
func portAdvice(p *serial.Port) []advice {
	var list []advice
	if p.Denied != "" {
		list = append(list, advice{p.Denied, accessFix(p.Denied)})
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
			fmt.Sprintf("echo 1 | sudo tee /sys/bus/usb-serial/devices/%s/latency_timer, or for good: halyard ports --udev",
				filepath.Base(p.Device)),
		})
	}
	return list
}

// accessFix is what helps against a denial: membership where the group is known, else rules that give access to whoever
// sits at the machine.
func accessFix(denied string) string {
	if _, group, ok := strings.Cut(denied, "not in group "); ok {
		return "sudo usermod -aG " + strings.Trim(group, `"`) + " $USER and log in again, or: halyard ports --udev"
	}
	return "halyard ports --udev | sudo tee " + serial.RulesFile
}

// conflictingDaemons are daemons that open serial adapters by themselves and talk to what hangs on them.
var conflictingDaemons = [...]struct{ process, does, fix string }{
	{"ModemManager", "it sends AT commands to new adapters",
		"halyard ports --udev tells it to keep away, or: sudo systemctl disable --now ModemManager"},
	{"brltty", "it takes CH340 and CP210x adapters for Braille displays",
		"sudo systemctl disable --now brltty-udev brltty"},
}

// meddlersIn lists the meddlers that run, by the process names under proc.
func meddlersIn(proc string) []advice {
	var list []advice
	entries, _ := os.ReadDir(proc) // what cannot be read is not known to run
	for _, m := range conflictingDaemons {
		for _, e := range entries {
			if _, err := strconv.Atoi(e.Name()); err != nil {
				continue
			}
			// The kernel cuts comm at 15 bytes; no name here is longer.
			name, _ := os.ReadFile(filepath.Join(proc, e.Name(), "comm"))
			if strings.TrimSpace(string(name)) == m.process {
				list = append(list, advice{fmt.Sprintf("%s runs (pid %s): %s", m.process, e.Name(), m.does), m.fix})
				break
			}
		}
	}
	return list
}
