package laser_test

import (
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// scanner is the common interface of the three drivers.
type scanner interface {
	drivers.Sensor
	Geometry() lidar.ScanGeometry
}

var room = laser.Room{Length: 6, Width: 4, X: 1.5, Y: 2.5}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// subject is one driver on one emulated scanner.
type subject struct {
	name   string
	baud   int // of the host, at first
	board  wire.Board
	make   func(t *testing.T, open servo.Opener) scanner
	within float64 // m
	none   int     // rays that may be without a value
	every  time.Duration
}

func sick(baud, angle, resolution int, reach float64, cm bool) func(*testing.T, servo.Opener) scanner {
	return func(t *testing.T, open servo.Opener) scanner {
		s, err := lidar.NewSICK(lidar.SICKSettings{Name: "lms", Line: open, Baud: baud, Angle: angle,
			Resolution: resolution, Reach: reach, Centimetres: cm})
		must(t, err)
		return s
	}
}

// asked is sick that asks for each scan.
func asked(baud, angle, resolution int) func(*testing.T, servo.Opener) scanner {
	return func(t *testing.T, open servo.Opener) scanner {
		s, err := lidar.NewSICK(lidar.SICKSettings{Name: "lms", Line: open, Baud: baud, Angle: angle,
			Resolution: resolution, Request: true})
		must(t, err)
		return s
	}
}

func hokuyo(model string, first, last, cluster int, short bool) func(*testing.T, servo.Opener) scanner {
	return func(t *testing.T, open servo.Opener) scanner {
		m, err := lidar.HokuyoModelOf(model)
		must(t, err)
		s, err := lidar.NewHokuyo(lidar.HokuyoSettings{Name: "urg", Line: open, Model: m, First: first, Last: last,
			Cluster: cluster, Short: short})
		must(t, err)
		return s
	}
}

func rplidar(drive lidar.RPLidarDrive, e lidar.RPLidarEncoding, n int) func(*testing.T, servo.Opener) scanner {
	return func(t *testing.T, open servo.Opener) scanner {
		s, err := lidar.NewRPLidar(lidar.RPLidarSettings{Name: "rp", Line: open, Drive: drive, Encoding: e, Rays: n})
		must(t, err)
		return s
	}
}

func model(name string) lidar.HokuyoModel {
	m, _ := lidar.HokuyoModelOf(name)
	return m
}

func subjects() []subject {
	lms := func() wire.Board { return laser.NewSICK("LMS200;30106;V02.30", room) }
	ms := time.Millisecond
	return []subject{
		{"lms 38400 180/0.5 mm", 9600, lms(), sick(38400, 180, 50, 8, false), 0.001, 0, 200 * ms},
		{"lms 500000 180/0.5 mm", 9600, lms(), sick(500000, 180, 50, 8, false), 0.001, 0, 30 * ms},
		{"lms 500000 180/1 cm", 9600, lms(), sick(500000, 180, 100, 8, true), 0.006, 0, 16 * ms},
		{"lms 500000 100/0.25 16 m", 9600, lms(), sick(500000, 100, 25, 16, false), 0.001, 0, 60 * ms},
		{"lms 38400 100/1 32 m", 9600, lms(), sick(38400, 100, 100, 32, false), 0.001, 0, 60 * ms},
		{"lms 500000 on request", 9600, lms(), asked(500000, 180, 50), 0.001, 0, 60 * ms},
		{"lms 38400 on request", 9600, lms(), asked(38400, 100, 100), 0.001, 0, 120 * ms},
		{"urg serial", 19200, laser.NewHokuyo(model("URG-04LX"), 19200, room), hokuyo("URG-04LX", 0, 0, 1, false),
			0.001, 0, 220 * ms},
		{"urg short", 115200, laser.NewHokuyo(model("URG-04LX"), 19200, room), hokuyo("URG-04LX", 128, 640, 1, true),
			0.001, 999, 110 * ms},
		{"utm usb", 0, laser.NewHokuyo(model("UTM-30LX"), 0, room), hokuyo("UTM-30LX", 0, 0, 1, false), 0.001, 0,
			30 * ms},
		{"ust clusters", 0, laser.NewHokuyo(model("UST-10LX"), 0, room), hokuyo("UST-10LX", 180, 900, 3, false), 0.06,
			0, 30 * ms},
		{"rplidar express", 115200, laser.NewRPLidar(lidar.RPLidarPWM, 115200, room), rplidar(lidar.RPLidarPWM, 0, 360),
			0.08, 2, 160 * ms},
		{"rplidar standard", 115200, laser.NewRPLidar(lidar.RPLidarDTR, 115200, room),
			rplidar(lidar.RPLidarDTR, lidar.RPLidarNodes, 180), 0.16, 2, 160 * ms},
		{"rplidar ultra", 115200, laser.NewRPLidar(lidar.RPLidarPWM, 115200, room),
			rplidar(lidar.RPLidarPWM, lidar.RPLidarUltra, 720), 0.08, 2, 160 * ms},
		{"rplidar dense", 115200, laser.NewRPLidar(lidar.RPLidarPWM, 115200, room),
			rplidar(lidar.RPLidarPWM, lidar.RPLidarDense, 360), 0.08, 2, 160 * ms},
		{"rplidar ultra-dense", 115200, laser.NewRPLidar(lidar.RPLidarPWM, 115200, room),
			rplidar(lidar.RPLidarPWM, lidar.RPLidarUltraDense, 360), 0.08, 2, 160 * ms},
	}
}

// Every scanner sees the room as it is, ray by ray, from its right to its left, at its own rate.
func TestScans(t *testing.T) {
	for _, s := range subjects() {
		line := wire.NewLine("line", s.baud, 1, s.board)
		d := s.make(t, line.Open)
		must(t, d.Open())
		fan := d.Geometry()
		values, truth := make([]float64, fan.Count), make([]float64, fan.Count)
		room.Scan(fan.First, fan.Step, truth)
		must(t, d.Read(values))
		began := line.Now()
		for range 5 {
			must(t, d.Read(values))
		}
		if took := (line.Now() - began) / 5; took > s.every {
			t.Errorf("%s: a scan every %v, want %v", s.name, took, s.every)
		}
		none := 0
		for i, v := range values {
			switch {
			case math.IsNaN(v) || math.IsInf(v, 1):
				none++
			case math.Abs(v-truth[i]) > s.within:
				t.Errorf("%s: ray %d: got %g, want %g", s.name, i, v, truth[i])
			}
		}
		if none > s.none {
			t.Errorf("%s: %d rays of %d without a value", s.name, none, fan.Count)
		}
		if n := testing.AllocsPerRun(3, func() { d.Read(values) }); n > 100 {
			t.Errorf("%s: %g allocations a scan, with the board's", s.name, n)
		}
		must(t, d.Close())
		// The next driver finds the scanner, in any state that the last one left.
		again := s.make(t, line.Open)
		must(t, again.Open())
		must(t, again.Read(values))
	}
}

// Missing objects, objects beyond the range, and invalid measurements.
func TestNothing(t *testing.T) {
	far, hall := laser.Room{Length: 300, Width: 4, X: 1, Y: 2}, laser.Room{Length: 6, Width: 4, X: 1, Y: 2}
	for _, s := range []struct {
		name  string
		board wire.Board
		make  func(*testing.T, servo.Opener) scanner
		ahead int
		want  float64
	}{
		{"lms", laser.NewSICK("LMS291;30106;V02.30", far), sick(38400, 180, 100, 8, false), 90, math.Inf(1)},
		{"urg", laser.NewHokuyo(model("URG-04LX"), 115200, far), hokuyo("URG-04LX", 0, 0, 1, false), 340, math.NaN()},
		{"urg short", laser.NewHokuyo(model("URG-04LX"), 115200, hall), hokuyo("URG-04LX", 0, 0, 1, true), 340,
			math.Inf(1)},
		{"utm", laser.NewHokuyo(model("UTM-30LX"), 115200, far), hokuyo("UTM-30LX", 0, 0, 1, false), 540, math.Inf(1)},
		{"ust", laser.NewHokuyo(model("UST-10LX"), 115200, far), hokuyo("UST-10LX", 0, 0, 1, false), 540, math.Inf(1)},
		{"rplidar", laser.NewRPLidar(lidar.RPLidarFree, 115200, far), rplidar(lidar.RPLidarFree, 0, 360), 180,
			math.NaN()},
	} {
		line := wire.NewLine(s.name, 115200, 1, s.board)
		d := s.make(t, line.Open)
		must(t, d.Open())
		values := make([]float64, d.Geometry().Count)
		must(t, d.Read(values))
		if got := values[s.ahead]; got != s.want && !(math.IsNaN(got) && math.IsNaN(s.want)) {
			t.Errorf("%s: got %g, want %g", s.name, got, s.want)
		}
	}
}

// Errors of a scanner have its own status texts.
func TestRefusals(t *testing.T) {
	locked := laser.NewSICK("LMS200;30106;V02.30", room)
	locked.Refuses = true
	ill := laser.NewRPLidar(lidar.RPLidarFree, 115200, room)
	ill.Sick = true
	dark := wire.NewLine("dark", 9600, 1, laser.NewSICK("LMS200;30106;V02.30", room))
	dark.Fault(wire.Fault{Kind: wire.PowerLoss})
	for _, c := range []struct {
		name string
		line *wire.Line
		make func(*testing.T, servo.Opener) scanner
		kind hal.Kind
		want string
	}{
		{"password", wire.NewLine("l", 9600, 1, locked), sick(38400, 180, 50, 8, false), hal.BusFault,
			"mode 00: got A0 01"},
		{"another type", wire.NewLine("l", 9600, 1, laser.NewSICK("S3000;1", room)), sick(38400, 180, 50, 8, false),
			hal.Absent, `got "S3000;1"`},
		{"no power", dark, sick(38400, 180, 50, 8, false), hal.Absent, "no scanner answers at any rate"},
		{"another model", wire.NewLine("l", 115200, 1, laser.NewHokuyo(model("UTM-30LX"), 115200, room)),
			hokuyo("URG-04LX", 0, 0, 1, false), hal.Invalid, `model "UTM-30LX": ARES: got 1440, want 1024`},
		{"health", wire.NewLine("l", 115200, 1, ill), rplidar(lidar.RPLidarFree, 0, 360), hal.BusFault, "error 8001"},
	} {
		d := c.make(t, c.line.Open)
		if err := d.Open(); hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v (%v), want %v, %q", c.name, err, hal.KindOf(err), c.kind, c.want)
		}
		if began := c.line.Now(); d.Read(make([]float64, 400)) == nil || c.line.Now()-began > time.Second {
			t.Errorf("%s: read: got no error, or after %v", c.name, c.line.Now()-began)
		}
	}
}

// A scanner that still waits for the rest of a request, of which bytes were lost, is found all the same.
func TestRPLidarHalfAsked(t *testing.T) {
	line := wire.NewLine("rp", 115200, 1, laser.NewRPLidar(lidar.RPLidarFree, 115200, room))
	before, err := line.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Write([]byte{0xA5, 0x82, 0xFF}); err != nil {
		t.Fatal(err)
	}
	if err := rplidar(lidar.RPLidarFree, 0, 360)(t, line.Open).Open(); err != nil {
		t.Error(err)
	}
}

func TestMotor(t *testing.T) {
	for _, drive := range []lidar.RPLidarDrive{lidar.RPLidarDTR, lidar.RPLidarPWM} {
		board := laser.NewRPLidar(drive, 115200, room)
		line := wire.NewLine("rp", 115200, 1, board)
		d := rplidar(drive, 0, 360)(t, line.Open)
		if board.Spins() {
			t.Errorf("drive %d: turns before Open", drive)
		}
		must(t, d.Open())
		line.SleepUntil(line.Now() + 10*time.Millisecond)
		if !board.Spins() {
			t.Errorf("drive %d: stands after Open", drive)
		}
		must(t, d.Close())
		line.SleepUntil(line.Now() + 10*time.Millisecond)
		if board.Spins() {
			t.Errorf("drive %d: turns after Close", drive)
		}
	}
}

func TestSICKState(t *testing.T) {
	line := wire.NewLine("lms", 9600, 1, laser.NewSICK("LMS200;30106;V02.30", room))
	d, err := lidar.NewSICK(lidar.SICKSettings{Line: line.Open, Angle: 100, Resolution: 25})
	must(t, err)
	must(t, d.Open())
	got, err := d.State()
	must(t, err)
	want := lidar.SICKState{Version: "V02.30", Mode: lidarwire.SICKRequest, Angle: 100, Resolution: 25, Unit: 1,
		Laser: true}
	if got != want || d.Type != "LMS200;30106;V02.30" {
		t.Errorf("got %+v of %q, want %+v", got, d.Type, want)
	}
	must(t, d.Read(make([]float64, d.Geometry().Count)))
}

// The same over ptys and a real socket, by the wall clock.
func TestPTYAndTCP(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	read := func(name string, d scanner) {
		t.Helper()
		values := make([]float64, d.Geometry().Count)
		// A busy machine keeps an answer for longer than a driver waits: it is opened again then, as by a poller.
		err := errors.New("not opened")
		for began := time.Now(); err != nil && time.Since(began) < time.Minute; {
			if err = d.Open(); err == nil {
				err = d.Read(values)
			}
		}
		must(t, err)
		if v := values[len(values)/2]; math.Abs(v-4.5) > 0.02 {
			t.Errorf("%s: ahead: got %g, want 4.5", name, v)
		}
		must(t, d.Close())
	}
	for _, s := range []struct {
		name string
		line *wire.Line
		make func(*testing.T, servo.Opener) scanner
		baud int
	}{
		{"lms", wire.NewLine("lms", 9600, 1, laser.NewSICK("LMS200;30106;V02.30", room)),
			sick(38400, 180, 100, 8, false), 9600},
		{"urg", wire.NewLine("urg", 19200, 1, laser.NewHokuyo(model("URG-04LX"), 19200, room)),
			hokuyo("URG-04LX", 0, 0, 1, false), 19200},
		{"rplidar", wire.NewLine("rp", 115200, 1, laser.NewRPLidar(lidar.RPLidarFree, 115200, room)),
			rplidar(lidar.RPLidarFree, 0, 360), 115200},
	} {
		path, wait, err := s.line.ServePTY(ctx, "")
		if err != nil {
			t.Skip(err)
		}
		defer func() { cancel(); must(t, wait()) }()
		read(s.name, s.make(t, serial.Reopener(path, s.baud, "")))
	}
	n, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	line := wire.NewLine("ust", 0, 1, laser.NewHokuyo(model("UST-10LX"), 0, room))
	done := make(chan error, 1)
	go func() { done <- line.ServeTCP(ctx, n) }()
	dial := lidar.DialTCP(n.Addr().String())
	read("ust", hokuyo("UST-10LX", 0, 0, 1, false)(t, dial))
	read("ust again", hokuyo("UST-10LX", 0, 0, 1, false)(t, dial))
	cancel()
	must(t, <-done)
	if _, err := dial(); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("no server: got %v", err)
	}
}
