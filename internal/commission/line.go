package commission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// TargetHelp is the help on the first argument of commands on a bare line.
const TargetHelp = "PORT is a serial port (halyard ports), or CONFIG:BUS, as in so101:arm, which knows its baud " +
	"rate and protocol."

// EchoFix is what to do about an adapter that receives what it sends.
const EchoFix = "use an adapter that switches direction by itself, or one with its receiver off while it sends"

// BareLine is an open line of which nothing more is known than where to look.
type BareLine struct {
	Finder
	Hurry time.Duration // in place of latency where ids are asked one after the other; 0 = the same
}

// NoLine reports where a port is a bus of another kind than a serial line; nil where it is not.
func NoLine(buses catalog.Buses, port string) error {
	if _, kind := catalog.ChipPort(port); kind != "" {
		return &hal.Error{Kind: hal.Invalid, Bus: port, Op: "open",
			Err: fmt.Errorf("a port of type %s, which has no servos", kind), Try: "halyard scan " + port}
	}
	if _, err := os.Stat(filepath.Join(assembly.MachineRoot, "sys/class/net", port)); err == nil &&
		port == filepath.Base(port) {
		return &hal.Error{Kind: hal.Invalid, Bus: port, Op: "open",
			Err: errors.New("a network interface: which motor controllers are on it?"),
			Try: "--protocol " + strings.Join(buses.CAN(), ", or --protocol ")}
	}
	return nil
}

// BusOf is the port that target means, and the bus of the config where it is CONFIG:BUS.
func BusOf(buses catalog.Buses, target string) (port string, bus *configs.Bus, err error) {
	c, name, err := BusIn(buses, target)
	if c == nil {
		return target, nil, err
	}
	b := c.Buses[name]
	return b.Port, &b, nil
}

// BusIn is the config that target means, and which of its buses, where it is CONFIG:BUS; a port is in none. A file of
// that name comes first: names by path have colons as well.
func BusIn(buses catalog.Buses, target string) (c *configs.Config, bus string, err error) {
	config, name, two := strings.Cut(target, ":")
	if !two || strings.HasPrefix(target, "/dev/") {
		return nil, "", nil
	}
	if _, err := os.Lstat(target); err == nil {
		return nil, "", nil
	}
	if c, err = configs.Load(config, configs.Options{}); err != nil {
		return nil, "", err
	}
	b, ok := c.Buses[name]
	if servos := buses.Has(b.Type); !ok || !servos {
		return nil, "", &hal.Error{Kind: hal.Invalid, Op: target,
			Err: fmt.Errorf("got bus %q, want a line of servos of %s: %s",
				name, c.Name, strings.Join(ServoBuses(buses, c), ", ")), Try: "halyard list " + config}
	}
	return c, name, nil
}

// ServoBuses are the names of a config's lines of servos.
func ServoBuses(buses catalog.Buses, c *configs.Config) (names []string) {
	for _, n := range report.SortedKeys(c.Buses) {
		if ok := buses.Has(c.Buses[n].Type); ok {
			names = append(names, n)
		}
	}
	return names
}

// Unecho filters the line's echo, if it has one, and notes it. The rate must be one that the adapter knows.
func (f *Finder) Unecho(note func(string, ...any)) error {
	if _, quiet := f.Line.(*servo.EchoFilter); quiet || f.Duplex {
		return nil
	}
	echo, err := catalog.Echoes(f.Line)
	if echo && err == nil {
		note("! %s echoes transmitted bytes: %s", f.Port, EchoFix)
		f.Line = &servo.EchoFilter{Line: f.Line}
	}
	return err
}

// OpenNamed opens the line of a bus type that is looked for only where it is named.
func OpenNamed(buses catalog.Buses, kind string, bus *configs.Bus, settings map[int]map[string]int) (*BareLine,
	error) {
	t := buses.Of(kind)
	if bus.Baud == 0 {
		bus.Baud = t.Bauds[0]
		if t.Filters != nil { // an interface of CAN has its rate already; without one, a virtual interface, any will do
			if l, err := can.Find(bus.Port, bus.Baud); err == nil && l.Bitrate > 0 {
				bus.Baud = l.Bitrate
			}
		}
	}
	line, err := t.PortOpener(bus, nil)()
	if err != nil {
		return nil, err
	}
	return &BareLine{Finder: Finder{Line: line, Port: bus.Port, Latency: catalog.LatencyOf(bus.Port, line),
		Bauds: []int{bus.Baud},
		Buses: buses, Types: []string{kind}, Duplex: t.Duplex, Settings: settings}}, nil
}
