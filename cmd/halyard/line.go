package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// targetHelp is what the commands on a bare line say of their first argument.
const targetHelp = "PORT is a serial port (halyard ports), or CONFIG:BUS, as in so101:arm, which knows its baud rate and protocol."

// lineFlags is what commands on a bare line must know of it.
type lineFlags struct {
	bauds            []int
	protocol, opener string
}

func (f *lineFlags) add(c *cobra.Command) {
	c.Flags().IntSliceVar(&f.bauds, "baud", usualBauds(), "rates to try, bits a second")
	c.Flags().StringVar(&f.protocol, "protocol", "all",
		"dynamixel1 (which finds Feetech servos as well), dynamixel2, feetech, hiwonder, kondo; both is dynamixel1 and 2; "+
			"motor controllers: vesc, odrive, odrive-can, cybergear")
	c.Flags().StringVar(&f.opener, "opener", serial.Bugst, "the library that opens the port: bugst, or tarm (to 115200 baud)")
	f.complete(c)
}

// usualBauds are the rates at which servos are found, the likeliest first: X servos come with 57600, AX and STS with 1M,
// LX-16A with 115200.
func usualBauds() []int {
	return []int{57600, 1000000, 115200, 2000000, 3000000, 4000000, 4500000, 9600, 400000, 500000, 250000, 200000,
		1250000, 625000, 38400, 128000, 76800, 19200}
}

// protocolsOf reads --protocol, the cheaper protocol to ask first.
func protocolsOf(word string) ([]int, error) {
	switch word {
	case "all":
		return allProtocols(), nil
	case "both":
		return []int{2, 1}, nil
	}
	if p, ok := busProtocols[word]; ok {
		return []int{p}, nil
	}
	if p := slices.Index(brandWords, word); p >= asFeetech {
		return []int{p}, nil
	}
	return nil, &hal.Error{Kind: hal.Invalid, Op: "--protocol", Err: fmt.Errorf("got %q, want all, both or one of %s", word, servoTypeNames())}
}

// bareLine is an open line of which nothing more is known than where to look.
type bareLine struct {
	finder
	hurry time.Duration // in place of latency where ids are asked one after the other; 0 = the same
}

// open opens what target names. Beside a config's bus, --baud and --protocol have the last word.
func (f *lineFlags) open(c *cobra.Command, target string) (*bareLine, error) {
	if s, ok, err := f.motors(c, target); err != nil {
		return nil, err
	} else if ok {
		return s.open()
	}
	bauds, word, opener := f.bauds, f.protocol, f.opener
	port, bus, err := busOf(target)
	if err != nil {
		return nil, err
	}
	if bus != nil {
		opener = bus.Opener
		if !c.Flags().Changed("baud") {
			bauds = []int{bus.Baud}
		}
		if !c.Flags().Changed("protocol") {
			word = bus.Type
		}
	}
	protocols, err := protocolsOf(word)
	if err != nil {
		return nil, err
	}
	if err := noLine(port); err != nil {
		return nil, err
	}
	for _, b := range bauds {
		if b < 1 || b > serial.MaxBaud {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "--baud", Err: fmt.Errorf("got %d, want 1..%d", b, serial.MaxBaud)}
		}
	}
	if len(bauds) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "--baud", Err: errors.New("got none, want a rate")}
	}
	line, err := serial.Open(port, bauds[0], opener)
	if err != nil {
		return nil, err
	}
	b := &bareLine{finder: finder{line: line, port: port, bauds: bauds, protocols: protocols}}
	if b.latency = latencyOf(port, line); b.latency == terminalPatience {
		b.hurry = terminalHurry
	}
	return b, nil
}

// noLine says where a port is a bus of another kind than a serial line; nil where it is not.
func noLine(port string) error {
	if _, kind := chipPort(port); kind != "" {
		return &hal.Error{Kind: hal.Invalid, Bus: port, Op: "open", Err: fmt.Errorf("a port of type %s, which has no servos", kind), Try: "halyard scan " + port}
	}
	if _, err := os.Stat(filepath.Join(machineRoot, "sys/class/net", port)); err == nil && port == filepath.Base(port) {
		return &hal.Error{Kind: hal.Invalid, Bus: port, Op: "open", Err: errors.New("a network interface: which motor controllers are on it?"),
			Try: "--protocol " + odriveCAN + ", or --protocol " + cybergearType}
	}
	return nil
}

// busOf is the port that target means, and the bus of the config where it is CONFIG:BUS.
func busOf(target string) (port string, bus *configs.Bus, err error) {
	c, name, err := busIn(target)
	if c == nil {
		return target, nil, err
	}
	b := c.Buses[name]
	return b.Port, &b, nil
}

// busIn is the config that target means, and which of its buses, where it is CONFIG:BUS; a port is in none. A file of that
// name comes first: names by path have colons as well.
func busIn(target string) (c *configs.Config, bus string, err error) {
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
	if _, servos := busTypes[b.Type]; !ok || !servos {
		return nil, "", &hal.Error{Kind: hal.Invalid, Op: target, Err: fmt.Errorf("got bus %q, want a line of servos of %s: %s",
			name, c.Name, strings.Join(servoBuses(c), ", ")), Try: "halyard configs " + config}
	}
	return c, name, nil
}

// servoBuses are the names of a config's lines of servos.
func servoBuses(c *configs.Config) (names []string) {
	for _, n := range sortedKeys(c.Buses) {
		if _, ok := busTypes[c.Buses[n].Type]; ok {
			names = append(names, n)
		}
	}
	return names
}

// unecho takes the line's echo out, where it has one, and says so. The rate must be one that the adapter knows.
func (f *finder) unecho(note func(string, ...any)) error {
	if _, quiet := f.line.(*servo.EchoFilter); quiet || f.duplex {
		return nil
	}
	echo, err := echoes(f.line)
	if echo && err == nil {
		note("! %s hears its own bytes: %s", f.port, echoFix)
		f.line = &servo.EchoFilter{Line: f.line}
	}
	return err
}
