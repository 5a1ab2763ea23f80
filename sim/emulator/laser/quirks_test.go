package laser_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Every version of an RPLIDAR is scanned by the same settings; the driver takes what is answered, and says what is odd.
func TestRPLidarVersions(t *testing.T) {
	for _, c := range []struct {
		name    string
		baud    int
		version laser.RPLidarVersion
		boot    time.Duration
		note    string
	}{
		{"A1 1.29", 115200, laser.RPLidarVersion{}, 0, ""},
		{"A1 1.15, without express", 115200, laser.RPLidarVersion{Model: 0x18, Major: 1, Minor: 15, NoExpress: true}, 0,
			"firmware 1.15"},
		{"A1 that spins up for 1 s", 115200, laser.RPLidarVersion{SpinUp: time.Second}, 0, ""},
		{"A1 that spins up for 2.5 s", 115200, laser.RPLidarVersion{SpinUp: 2500 * time.Millisecond}, 0, ""},
		{"A1 that boots for 1.5 s", 115200, laser.RPLidarVersion{}, 1500 * time.Millisecond, ""},
		{"A3", 256000, laser.RPLidarVersion{Model: 0x31, Express: lidar.RPLidarUltra}, 0, ""},
		{"S1", 256000, laser.RPLidarVersion{Model: 0x61, Express: lidar.RPLidarDense}, 0, ""},
		{"S2", 1000000, laser.RPLidarVersion{Model: 0x71, Express: lidar.RPLidarDense}, 0, ""},
		{"S3", 1000000, laser.RPLidarVersion{Model: 0x81, Express: lidar.RPLidarUltraDense}, 0, ""},
		{"C1", 460800, laser.RPLidarVersion{Model: 0x41, Express: lidar.RPLidarDense}, 0, ""},
		{"HQ packets", 256000, laser.RPLidarVersion{Model: 0x31, Express: lidarwire.RpTypeHQ}, 0, ""},
		{"C1 that answers express with a standard scan", 460800,
			laser.RPLidarVersion{Model: 0x41, Express: lidar.RPLidarNodes}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			board := laser.NewRPLidar(lidar.RPLidarFree, c.baud, room)
			board.RPLidarVersion, board.Boot = c.version, max(c.boot, time.Millisecond)
			line := wire.NewLine("rp", c.baud, 1, board)
			if c.boot > 0 { // it loses its power as the port is opened
				line.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Millisecond})
			}
			d, err := lidar.NewRPLidar(lidar.RPLidarSettings{Name: "top", Line: line.Open, Drive: lidar.RPLidarFree})
			must(t, err)
			must(t, d.Open())
			values := make([]float64, d.Geometry().Count)
			must(t, d.Read(values))
			must(t, d.Read(values))
			seen := 0
			for _, v := range values {
				if v > 0 {
					seen++
				}
			}
			if seen < 280 || !strings.Contains(d.Note(), c.note) || c.note == "" && d.Note() != "" {
				t.Errorf("got %d of %d rays, note %q, want %q", seen, len(values), d.Note(), c.note)
			}
			must(t, d.Close())
		})
	}
}

// What an RPLIDAR answers to each request by its firmware and its quirks: info 50, express 82 of mode 0, the count of
// modes 84 70; "" is silence. The bytes are those of SLAMTEC's protocol, and the descriptors those of its SDK's
// recordings.
func TestRPLidarFirmwareAnswers(t *testing.T) {
	const express, modes = "A58205000000000022", "A584047000000055"
	for _, c := range []struct{ firmware, quirk, ask, want string }{
		{"1.15", "", "A550", "A55A1400000004180F0107"}, {"1.15", "", express, ""}, {"1.15", "", modes, ""},
		{"1.20", "", "A550", "A55A140000000418140107"}, {"1.20", "", express, "A55A5400004082"},
		{"1.20", "", modes, ""},
		{"1.24", "", "A550", "A55A140000000418180107"}, {"1.24", "", modes, "A55A06000000207000000007"},
		{"1.29", "", "A550", "A55A1400000004181D0107"}, {"1.29", "", express, "A55A5400004082"},
		{"1.29", "", "A552", "A55A0300000006000000"}, {"1.29", "", "A559", "A55A0400000015F401FA00"},
		{"1.29", "", "A520", "A55A0500004081"}, {"1.15", "", "A520", "A55A0500004081"},
		{"", version.Dense, express, "A55A5400004085"}, {"", version.HQ, express, "A55A8D00004083"},
		{"1.1", version.Dense, "A550", "A55A140000000418010107"},
		{"", version.SpinsUp, "A552", "A55A0300000006000000"},
	} {
		board := laser.NewRPLidar(lidar.RPLidarFree, 115200, room)
		board.Boot = time.Millisecond
		board.Take(c.firmware, []string{c.quirk})
		line, err := wire.NewLine("rp", 115200, 1, board).Open()
		must(t, err)
		all := func() (got []byte) {
			var piece [256]byte
			for len(got) < 100 {
				n, err := line.Read(piece[:], 20*time.Millisecond)
				if got = append(got, piece[:n]...); err != nil {
					break
				}
			}
			return got
		}
		all() // its banner
		ask, err := hex.DecodeString(c.ask)
		must(t, err)
		_, err = line.Write(ask)
		must(t, err)
		got := fmt.Sprintf("%X", all())
		if c.want == "" && !strings.Contains(got, "A55A") || c.want != "" && strings.Contains(got, c.want) {
			continue
		}
		t.Errorf("firmware %s %s, %s: got %.40s, want %q", c.firmware, c.quirk, c.ask, got, c.want)
	}
}

// What is wrong is named: another rate, another device's stream, a fault that the scanner reports, nothing at all.
func TestCauses(t *testing.T) {
	rp := func(baud int) *wire.Line {
		return wire.NewLine("l", baud, 1, laser.NewRPLidar(lidar.RPLidarFree, baud, room))
	}
	scans := rp(115200) // left running by another program
	if l, err := scans.Open(); err != nil {
		t.Fatal(err)
	} else if _, err := l.Write(lidarwire.AppendRPLidar(nil, lidarwire.RPLidarExpress, 0, 0, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	ill := laser.NewRPLidar(lidar.RPLidarFree, 115200, room)
	ill.Sick = true
	dark := rp(115200)
	dark.Fault(wire.Fault{Kind: wire.PowerLoss})
	ours := rplidar(lidar.RPLidarFree, 0, 360)
	for _, c := range []struct {
		name  string
		line  *wire.Line
		make  func(*testing.T, servo.Opener) scanner
		kind  hal.Kind
		cause error
		want  string
	}{
		{"an RPLIDAR at a Hokuyo's port", scans, hokuyo("URG-04LX", 0, 0, 1, false), hal.Absent, servo.ErrForeign,
			"RPLIDAR"},
		{"health", wire.NewLine("l", 115200, 1, ill), ours, hal.BusFault, servo.ErrReported, "after a reset"},
		{"silence", dark, ours, hal.Absent, servo.ErrNoReply, "no answer"},
	} {
		err := c.make(t, c.line.Open).Open()
		if hal.KindOf(err) != c.kind || !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v (%v), want %v, %v, %q", c.name, err, hal.KindOf(err), c.kind, c.cause, c.want)
		}
	}
	fast, err := rp(460800).Open()
	must(t, err)
	must(t, fast.SetBaud(115200)) // the config's
	open := func() (servo.Line, error) { return fast, nil }
	if err := ours(t, open).Open(); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "it answers at 460800 baud") {
		t.Errorf("another rate: got %v", err)
	}
}
