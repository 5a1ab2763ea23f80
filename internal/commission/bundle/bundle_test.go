package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/bundle"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// packed writes r and reads it again, as on another machine.
func packed(t *testing.T, r *bundle.Report) *bundle.Report {
	t.Helper()
	list, err := r.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := bundle.Write(&file, list); err != nil {
		t.Fatal(err)
	}
	read, err := bundle.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// planted are the cases that are changes of a plan, of which the config of the report knows nothing.
var planted = map[string]bool{"sensor's address strapped otherwise": true, "another chip": true,
	"I2C not switched on": true, "SPI not switched on": true, "PWM chip missing": true,
	"PWM chip with too few outputs": true, "none, and a PWM chip": true, "sensor's adapter missing": true,
	"another robot": true, "board strapped otherwise": true, "pressure sensor of another range": true,
	"scanner of another model": true}

// Every case of the doctor's matrix that has a line gives the same findings when its report is examined elsewhere.
func TestMatrixReplayed(t *testing.T) {
	t.Parallel()
	replayed := 0
	for i, l := range doctor.FaultCases() {
		t.Run(fmt.Sprint(i, " ", l.Name, " ", l.Config), func(t *testing.T) {
			if planted[l.Name] {
				t.Skip("planted in the plan; the config does not have it")
			}
			var p *plan.Plan
			var traffic *bundle.Traffic
			_, x, err := l.Examine(t.Context(), t.TempDir(), func(of *plan.Plan) {
				p, traffic = of, bundle.NewTraffic(of)
			})
			if errors.Is(err, doctor.ErrNothingEmulated) {
				t.Skip("no hardware")
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range p.Agents {
				for _, j := range a.Joints {
					if j.Body == configs.Real {
						t.Skip("made real in its plan, not in its config")
					}
				}
			}
			r, err := bundle.Of(p, x, traffic, nil, nil, bundle.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again, counts, err := packed(t, r).Doctor(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if d := bundle.Differences(r.Findings, again.Found); len(d) > 0 {
				t.Errorf("%+v\n%s", counts, strings.Join(d, "\n"))
			}
			if counts.Matched > 0 {
				replayed++
			}
		})
	}
	if replayed < 150 {
		t.Errorf("%d cases were replayed, want 150", replayed)
	}
}

// change lets a line of a robot be another one.
type change func(open servo.Opener) servo.Opener

// met is a report of a robot that was made and packed, with what was changed on its line and in its devices.
func met(t *testing.T, path, body string, changed change, dense bool, faults ...string) *bundle.Report {
	t.Helper()
	p, err := plan.Load(path, configs.Options{Body: body}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	traffic := bundle.NewTraffic(p)
	if dense {
		board := laser.NewRPLidar(lidar.RPLidarFree, 256000, laser.Room{Length: 6, Width: 4, X: 1.5, Y: 2.5})
		board.RPLidarVersion, board.Boot = laser.RPLidarVersion{Model: 0x61, Express: lidar.RPLidarDense},
			time.Millisecond
		line := wire.NewLine("top", 256000, 1, board)
		p.WireClock = func(string, configs.BodyKind) hal.Clock { return line }
		changed = func(servo.Opener) servo.Opener { return line.Open }
	}
	if keep := p.Tap; changed != nil {
		p.Tap = func(bus string, kind configs.BodyKind, open servo.Opener) servo.Opener {
			return keep(bus, kind, changed(open))
		}
	}
	x, err := doctor.NewExamination(p, body, faults)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*commission.RegisterFile{}
	x.Dump = func(bus string, f commission.RegisterFile) { tables[fmt.Sprint(bus, "-", f.ID)] = &f }
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := bundle.Of(p, x, traffic, tables, nil, bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return packed(t, r)
}

// motorError is an ODrive whose motor has an error while its axis has none.
type motorError struct {
	servo.Line
	answer []byte
}

func (l *motorError) Write(p []byte) (int, error) {
	l.answer = nil
	if bytes.Contains(p, []byte("motor.error")) {
		l.answer = []byte("4096*11\r\n")
		return len(p), nil
	}
	return l.Line.Write(p)
}

func (l *motorError) Read(p []byte, timeout time.Duration) (int, error) {
	if l.answer == nil {
		return l.Line.Read(p, timeout)
	}
	n := copy(p, l.answer)
	if l.answer = l.answer[n:]; n == 0 {
		l.answer = nil
		return 0, os.ErrDeadlineExceeded
	}
	return n, nil
}

// trio writes a robot of three joints on one line.
func trio(t *testing.T, bus, model string, baud int, volts float64) string {
	t.Helper()
	path, err := doctor.WriteTrio(t.TempDir(), bus, model, baud, volts)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// odrive writes a robot of one joint on a serial ODrive.
func odrive(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "leg.yaml")
	robot := "name: leg\ntitle: one joint\nsupply: {volts: 24, ohms: 0.02}\njoints:\n  - {name: hip, path: /hip, " +
		"servo: odrive-v3, limits_deg: [-80, 80], default_deg: 0,\n     load: {inertia_kgm2: 0.0002, mass_kg: 0.001, " +
		"length_m: 0.05, source: a test}}\n"
	config := "name: leg\nclock: {period: 20ms}\nbuses:\n  line: {type: odrive, port: /dev/ttyUSB0, baud: 115200}\n" +
		"agents:\n  - name: leg\n    model: robot.yaml\n    hardware:\n      joints:\n" +
		"        hip: {bus: line, id: 0, model: odrive-v3}\n"
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "robot.yaml"), []byte(robot), 0o600),
		os.WriteFile(path, []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// stale writes a robot whose servo 2 has another homing offset than its calibration.
func stale(t *testing.T) string {
	t.Helper()
	path := trio(t, "dynamixel2", "xm430-w350", 57600, 12)
	c := calibration.Nominal("b", calibration.Servo{Model: "xm430-w350", ID: 2},
		calibration.Model{TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095, TorqueConstant: 4.1 / 2.3})
	c.Method, c.Servo.HomingOffset = calibration.ByManual, 100
	if _, err := calibration.Save(filepath.Join(filepath.Dir(path), "b.yaml"), c); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("b: {bus: line,"), []byte("b: {bus: line, calibration: b.yaml,"), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// scanner writes a robot with a scanner on a serial port.
func scanner(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scanner.yaml")
	config := "name: scanner\nclock: {period: 20ms}\nbuses:\n  top: {type: serial, port: /dev/ttyUSB0, baud: 256000}\n" +
		"agents:\n  - name: rover\n    model: usarsim-p2at\n    parts: {scanner1: emulated}\n    hardware:\n      " +
		"sensors:\n" +
		"        scanner1: {bus: top, device: rplidar, motor: free, fov: 360, resolution: 1, range_max: 12}\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The faults of the field: the report of each gives the same findings, and the end of serve, in another folder.
func TestFaultsReplayed(t *testing.T) {
	t.Parallel()
	sts := func(t *testing.T) string { return trio(t, "feetech", "sts3215", 1000000, 7.4) }
	sub := func(open servo.Opener) servo.Opener {
		return func() (servo.Line, error) {
			line, err := open()
			return &motorError{Line: line}, err
		}
	}
	for _, c := range []struct {
		name          string
		path          func(t *testing.T) string
		changed       change
		dense         bool // an RPLIDAR that answers express scans with dense capsules, as S1, S2 and C1 do
		fault         string
		found, served string // parts of their texts; "" of served: it opens
	}{
		{"stale homing offset", stale, nil, false, "", "homing offset", "homing offset"},
		{"ODrive sub-error", odrive, sub, false, "", "motor error", ""},
		{"dense RPLIDAR", scanner, nil, true, "", "", ""},
		{"silent servo", sts, nil, false, "off servo 2", "no answer", "no answer"},
		{"two of one id", sts, nil, false, "duplicate_id servo 2", "two", "answer mangled"},
		{"no supply", sts, nil, false, "off servo 1,off servo 2,off servo 3", "none of the 3 servos", "no answer"},
		{"noise", sts, nil, false, "crc servo 2 p=0.3", "checksum", "no answer"},
		{"slow servo", sts, nil, false, "delayed servo 2 by=60ms", "", "no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var faults []string
			if c.fault != "" {
				faults = strings.Split(c.fault, ",")
			}
			body := "emulated"
			if c.dense {
				body = ""
			}
			r := met(t, c.path(t), body, c.changed, c.dense, faults...)
			again, counts, err := r.Doctor(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if d := bundle.Differences(r.Findings, again.Found); len(d) > 0 || counts.Unknown > 0 {
				t.Errorf("%+v\n%s", counts, strings.Join(d, "\n"))
			}
			found := false
			for _, f := range again.Found {
				found = found || strings.Contains(f.Found, c.found) && (c.found == "" || f.State != doctor.StateOK)
			}
			if !found {
				t.Errorf("findings: got %v, want %q", again.Found, c.found)
			}
			_, err = r.Serve(t.TempDir(), slog.New(slog.DiscardHandler))
			if (err == nil) != (c.served == "") || err != nil && !strings.Contains(err.Error(), c.served) {
				t.Errorf("serve: got %v, want %q", err, c.served)
			}
		})
	}
}

// A robot that only a client spawns, of which one sensor is real: serve opens nothing of it, in a replay as on the
// robot.
func TestReplayOfAClass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rig.yaml")
	text := `name: scanner
clock: {mode: realtime, period: 10ms}
buses:
  top: {type: serial, port: /dev/ttyUSB0, baud: 460800, quirks: [dense]}
classes:
  USARBot.P2DX:
    model: usarsim-p2dx
    body: sim
    parts: {scanner1: emulated}
    hardware:
      sensors: {scanner1: {bus: top, device: rplidar, motor: free, fov: 360, resolution: 1, range_max: 12}}
servers:
  - {protocol: gamebots, listen: "127.0.0.1:0"}
  - {protocol: imageserver, listen: "127.0.0.1:0"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := met(t, path, "", nil, false)
	if _, err := r.Serve(t.TempDir(), slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("got %v", err)
	}
}
