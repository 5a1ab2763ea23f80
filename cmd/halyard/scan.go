package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

func newScan(a *app) *cobra.Command {
	var f lineFlags
	c := &cobra.Command{
		Use:   "scan PORT",
		Short: "every servo on a line, of every brand and at every baud rate; every chip on an I2C bus, or the one on SPI",
		Long: targetHelp + "\nEvery id is asked at every rate, in every protocol: Dynamixel 2.0 and 1.0, Feetech, Hiwonder and Kondo.\n" +
			"None of them hears the others' packets as its own, and nothing moves.\n" +
			"Of an I2C bus (/dev/i2c-1) it lists who answers at which address and what that is, of a port of SPI (/dev/spidev0.0) the chip.\n" +
			"Motor controllers are looked for where --protocol says vesc, odrive, odrive-can or cybergear; of CAN, PORT is an interface.",
		Example: "  halyard scan /dev/ttyUSB0\n  halyard scan so101:arm\n  halyard scan /dev/i2c-1\n  halyard scan can0 --protocol cybergear",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch port, kind := chipPort(args[0]); kind {
			case i2cBus:
				return a.scanI2C(cmd.Context(), port)
			case spiBus:
				return a.scanSPI(port)
			}
			if t, ok, err := f.motors(cmd, args[0]); ok || err != nil {
				return a.scanMotors(t, err)
			}
			b, err := f.open(cmd, args[0])
			if err != nil {
				return err
			}
			defer b.line.Close()
			s := survey{bareLine: b, note: a.note}
			rows, err := s.run(cmd.Context())
			if e := show(a, rows); err == nil {
				err = e
			}
			if err == nil && len(rows) == 0 {
				err = s.silence()
			}
			return err
		},
	}
	f.add(c)
	return c
}

// What the program behind a pseudo terminal may need until the system lets it run, and what it gets where 254 ids are
// asked and each silent one costs it.
const (
	terminalPatience = 50 * time.Millisecond
	terminalHurry    = 4 * time.Millisecond
)

// isTerminal tells whether port is a pseudo terminal, behind which is a program and no adapter.
func isTerminal(port string) bool {
	device, err := filepath.EvalSymlinks(port)
	return err == nil && strings.HasPrefix(device, "/dev/pts/")
}

// timed is a line whose adapter may have a latency timer (serial.Line).
type timed interface {
	LatencyTimer() (d time.Duration, note string)
}

// latencyOf is how long what is behind an open port may hold an answer back.
func latencyOf(port string, line servo.Line) time.Duration {
	if isTerminal(port) {
		return terminalPatience
	}
	if l, ok := line.(timed); ok {
		d, _ := l.LatencyTimer()
		return d
	}
	return 0
}

// survey asks a line for servos, one baud rate and protocol after the other. In protocol 2.0 a broadcast ping is
// answered by all in the order of their ids; only where answers lie over each other is each id asked alone, as always in
// protocol 1.0, where all would answer a broadcast at once. A line may have servos of both protocols and at several
// rates: none of them hears the others' packets as its own.
type survey struct {
	*bareLine
	ear  *countingLine                    // the line, while ids are asked
	note func(format string, args ...any) // progress
}

// lastID is the greatest id of each protocol, those of other brands included.
var lastID = [...]int{1: 253, 2: 252, asFeetech: feetech.LastID, asHiwonder: hiwonder.LastID, asKondo: kondo.LastID,
	asVESC: vesc.LastID, asODrive: odrive.LastNode, asODriveCAN: odrive.LastNode, asCyberGear: cybergear.LastID}

// estimate is how long one rate and protocol take where nobody answers.
func (s *survey) estimate(baud, protocol int) time.Duration {
	octet := 10 * time.Second / time.Duration(baud)
	if protocol == 2 {
		return 253*(14*octet+3*time.Millisecond) + s.latency // what PingAll waits for
	}
	// A ping and its answer, the longest return delay and the client's slack, an id.
	return time.Duration(lastID[protocol]+1) * (15*octet + 2508*time.Microsecond + cmp.Or(s.hurry, s.latency))
}

// run returns every servo found. When ctx ends or the adapter vanishes, it returns those found until then as well.
func (s *survey) run(ctx context.Context) ([]foundServo, error) {
	var total time.Duration
	for _, b := range s.bauds {
		for _, p := range s.protocols {
			if possible(p, b) {
				total += s.estimate(b, p)
			}
		}
	}
	s.note("%s: %d rates, protocol %s: up to %v", s.port, len(s.bauds), strings.Join(protocolWords(s.protocols), " and "),
		total.Round(100*time.Millisecond))
	rows := []foundServo{}
	for i, b := range s.bauds {
		if !slices.ContainsFunc(s.protocols, func(p int) bool { return possible(p, b) }) {
			continue
		}
		if err := s.line.SetBaud(b); err != nil {
			if hal.KindOf(err) == hal.Invalid { // the adapter cannot go so fast
				s.note("%d Bd: skipped: %v", b, err)
				continue
			}
			return rows, err
		}
		if err := s.unecho(s.note); err != nil {
			return rows, err
		}
		for _, p := range s.protocols {
			if !possible(p, b) {
				continue
			}
			found, err := s.ask(ctx, b, p)
			rows = append(rows, found...)
			if err != nil {
				return rows, err
			}
			if p == asKondo && len(found) > 0 {
				s.note("%d Bd: Kondo servos share a line with nobody: no other protocol is asked", b)
				break
			}
			s.note("%d of %d: %d Bd, protocol %s: %s", i+1, len(s.bauds), b, protocolWord(p), summary(found))
		}
	}
	return rows, nil
}

// ask finds the servos of one protocol at the line's rate.
func (s *survey) ask(ctx context.Context, baud, protocol int) ([]foundServo, error) {
	s.ear = &countingLine{Line: s.line}
	if protocol >= asFeetech {
		return s.askBrand(ctx, baud, protocol)
	}
	c := dynamixel.NewClient(s.ear, protocol)
	c.Name, c.Latency = s.port, s.latency
	row := func(f dynamixel.Found, err error) foundServo {
		c.Latency = s.latency
		r := foundServo{Port: s.port, Baud: baud, Protocol: protocol, ID: int(f.ID)}
		r.describe(c, &f, err)
		if r.Finding == unknownText && protocol == 1 {
			s.unmask(&r)
		}
		return r
	}
	if protocol == 2 {
		all, err := c.PingAll()
		if hal.KindOf(err) == hal.Absent {
			return nil, err
		}
		if err == nil {
			var rows []foundServo
			for _, f := range all {
				if f.Answers > 1 {
					err = errors.New("answered twice")
				}
				rows = append(rows, row(f, err))
				err = nil
			}
			return rows, ctx.Err()
		}
		// Answers lay over each other: ask one id after the other.
	}
	return s.sweep(ctx, lastID[protocol], func(id int, patience time.Duration) (foundServo, error) {
		c.Latency = patience
		f, err := c.Ping(byte(id))
		if kind := hal.KindOf(err); err != nil && (kind == hal.Timeout || kind == hal.Absent) {
			return foundServo{}, err
		}
		return row(f, err), err
	})
}

const unknownText = "a model that is not known here"

const collisionText = "its answers collide: two servos with this id? connect one alone, then halyard setup gives it another"

// silence is the error of a scan without a servo, with what to look at next, in the order of likelihood: power, the data
// line, the adapter.
func (s *survey) silence() error {
	return &hal.Error{
		Kind: hal.BusFault, Bus: s.port, Op: "scan",
		Err: fmt.Errorf("nobody answered at %s baud, protocol %s: check the servos' power, the cable's data line, and that "+
			"the adapter is the one of the bus",
			strings.Join(decimals(s.bauds), ", "), strings.Join(protocolWords(s.protocols), " and ")),
		Try: "halyard ports",
	}
}
