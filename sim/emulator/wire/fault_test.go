package wire_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const period = 10 * time.Millisecond

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// subject is one device under faults.
type subject struct {
	name string
	line *wire.Line
	// cycle lets one period pass and says whether the device is well, and whether it is well and wrong.
	cycle func(t *testing.T) (well, wrong bool)
}

var room = laser.Room{Length: 6, Width: 4, X: 1.5, Y: 2.5}

// scanning is the subject of a scanner that is read by a poller in step with the cycle, in a room that it knows: a
// value may be off by so much, m, and such a share.
func scanning(t *testing.T, name string, baud int, seed int64, off, share float64, board wire.Board,
	make1 func(servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error)) *subject {
	t.Helper()
	line := wire.NewLine(name, baud, seed, board)
	d, fan, err := make1(line.Open)
	must(t, err)
	p := drivers.NewPoller(d, drivers.PollerConfig{Name: name, Values: fan.Count, Clock: line, CycleTime: line.Edge})
	must(t, p.Open())
	t.Cleanup(func() { p.Close() })
	// A ray may see what one beside it sees: sectors, and angles that are rounded.
	fine := make([]float64, 5*fan.Count)
	room.Scan(fan.First-fan.Step, fan.Step*float64(fan.Count+2)/float64(len(fine)), fine)
	values := make([]float64, fan.Count)
	return &subject{name: name, line: line, cycle: func(t *testing.T) (well, wrong bool) {
		must(t, line.Advance(period))
		must(t, p.Receive())
		age, err := p.Latest(values, 0)
		if err != nil || age < 0 || age > 400*time.Millisecond {
			return false, false
		}
		for i, v := range values {
			if math.IsNaN(v) {
				continue
			}
			from := i * len(fine) / (fan.Count + 2)
			low, high := math.Inf(1), 0.0
			for _, f := range fine[from:min(len(fine), from+11)] {
				low, high = math.Min(low, f), math.Max(high, f)
			}
			wrong = wrong || v < low-off-share*low || v > high+off+share*high
		}
		return true, wrong
	}}
}

// driving is the subject of a base that drives in a circle, whose user enables it again whenever it has stopped.
func driving(t *testing.T, seed int64) *subject {
	t.Helper()
	robot, err := base.RobotOf("p2at")
	must(t, err)
	floor := p2os.NewFloor(robot.Difference)
	floor.Echo = 1.5
	line := wire.NewLine("base", 9600, seed, p2os.New(robot, "Pat", 9600, false, floor))
	b, err := base.New(base.Settings{Name: "base", Robot: robot, Line: line.Open, Clock: line})
	must(t, err)
	must(t, b.Open())
	t.Cleanup(func() { b.Close() })
	place, echo := b.Source(base.Odometry), b.Source(base.Ring)
	var at [3]float64
	var sonar [1]float64
	// The motion without power, or while another device replied in its place, is not counted and cannot be known.
	var x, y, h float64
	return &subject{name: "base", line: line, cycle: func(t *testing.T) (well, wrong bool) {
		goal := servo.Goal{Enable: hal.KindOf(b.State(0).Err) != hal.Unsafe, Mode: hal.VelocityMode, Limit: 1}
		for i, speed := range [2]float64{2, 2.5} {
			goal.Velocity = speed
			b.SetGoal(i, goal)
		}
		b.Send()
		synctest.Wait() // a lost line is opened in a goroutine, which takes no virtual time
		must(t, line.Advance(period))
		must(t, floor.Advance(period))
		b.Receive()
		age, err := place.Latest(at[:], 0)
		_, heard := echo.Latest(sonar[:], 0)
		if err != nil || age > 400*time.Millisecond || b.State(0).Err != nil {
			return false, false
		}
		// Steps, not places: how far it says it came since it was well last, against how far it did come.
		said := math.Hypot(at[0]-x, at[1]-y)
		x, y, h = at[0], at[1], at[2]
		fast := math.Abs(b.State(0).Velocity)*robot.Radius > 0.6
		return true, said > 0.6 || fast || math.Abs(h) > math.Pi || heard == nil && math.Abs(sonar[0]-1.5) > 0.01
	}}
}

func subjects() map[string]func(*testing.T, int64) *subject {
	return map[string]func(*testing.T, int64) *subject{
		"base": driving,
		"lms": func(t *testing.T, seed int64) *subject {
			return scanning(t, "lms", 9600, seed, 0.05, 0, laser.NewSICK("LMS200;30106;V02.30", room),
				func(open servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error) {
					d, err := lidar.NewSICK(lidar.SICKSettings{Line: open, Baud: 38400, Resolution: 100})
					return d, d.Geometry(), err
				})
		},
		"lms 500k": func(t *testing.T, seed int64) *subject {
			return scanning(t, "lms 500k", 9600, seed, 0.05, 0, laser.NewSICK("LMS291;30106;V02.30", room),
				func(open servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error) {
					d, err := lidar.NewSICK(lidar.SICKSettings{Line: open, Baud: 500000})
					return d, d.Geometry(), err
				})
		},
		"urg": func(t *testing.T, seed int64) *subject {
			m, _ := lidar.HokuyoModelOf("URG-04LX")
			return scanning(t, "urg", 19200, seed, 0.05, 0, laser.NewHokuyo(m, 19200, room),
				func(open servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error) {
					d, err := lidar.NewHokuyo(lidar.HokuyoSettings{Line: open, Model: m})
					return d, d.Geometry(), err
				})
		},
		"ust": func(t *testing.T, seed int64) *subject {
			m, _ := lidar.HokuyoModelOf("UST-10LX")
			return scanning(t, "ust", 0, seed, 0.05, 0, laser.NewHokuyo(m, 0, room),
				func(open servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error) {
					d, err := lidar.NewHokuyo(lidar.HokuyoSettings{Line: open, Model: m, Cluster: 2})
					return d, d.Geometry(), err
				})
		},
		"rplidar": func(t *testing.T, seed int64) *subject {
			return scanning(t, "rplidar", 115200, seed, 0.05, 0, laser.NewRPLidar(lidar.RPLidarPWM, 115200, room),
				func(open servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error) {
					d, err := lidar.NewRPLidar(lidar.RPLidarSettings{Line: open, Drive: lidar.RPLidarPWM})
					return d, d.Geometry(), err
				})
		},
		"rplidar standard": func(t *testing.T, seed int64) *subject {
			// Without a checksum what one flipped bit makes of a sample is as far off as neighbours may be apart.
			return scanning(t, "rplidar standard", 115200, seed, 0.1, 0.1, laser.NewRPLidar(lidar.RPLidarDTR, 115200,
				room), func(open servo.Opener) (drivers.Sensor, lidar.ScanGeometry, error) {
				d, err := lidar.NewRPLidar(lidar.RPLidarSettings{Line: open, Encoding: lidar.RPLidarNodes, Rays: 180})
				return d, d.Geometry(), err
			})
		},
	}
}

// stranger is the reply of another device, which the subject must ignore.
func stranger(hears string) []byte {
	// another address
	scan := lidarwire.AppendSICK(nil, 0x81, lidarwire.AppendSICKScan(nil, []uint16{100, 200, 300}, 1, 0x10))
	report := p2oswire.Report{X: 5000, Y: 5000, Left: 2000, Battery: 120}
	switch hears {
	case "lms", "lms 500k":
		return p2oswire.AppendPacket(scan, report.Append(nil))
	case "urg", "ust":
		return lidarwire.AppendSCIPScan(nil, "MD0001000301000", lidarwire.SCIPData, 5, []int{100, 200, 300}, 3)
	}
	return scan
}

// outcome is what a fault did to a device.
type outcome struct {
	told     bool          // it was seen
	wrong    int           // cycles with values that were handed on as right and were not
	recovery time.Duration // from the end of its cause to good values
}

// suffer runs one fault for a second and waits for the recovery, for three seconds at most.
func (s *subject) suffer(t *testing.T, f wire.Fault) (o outcome) {
	t.Helper()
	for range 100 {
		s.cycle(t)
	}
	if well, wrong := s.cycle(t); !well || wrong {
		t.Fatalf("%s: before the fault: well %v, wrong %v", s.name, well, wrong)
	}
	s.line.Fault(f)
	for range 100 {
		well, wrong := s.cycle(t)
		o.told = o.told || !well
		if wrong {
			o.wrong++
		}
	}
	s.line.ClearFaults()
	for range 300 {
		o.recovery += period
		well, wrong := s.cycle(t)
		if wrong {
			o.wrong++
		}
		if well && !wrong {
			return o
		}
	}
	return o
}

// The matrix of "Bad input": every fault at every device, always and now and then, with seeds. No value is wrong and
// handed on as right; a silent device is seen to be silent; within a second of the end of the cause all is well.
func TestFaults(t *testing.T) {
	seeds := int64(3)
	if testing.Short() {
		seeds = 1
	}
	for name, newSubject := range subjects() {
		t.Run(name, func(t *testing.T) {
			for _, kind := range wire.LineFaults() {
				for _, p := range []float64{0, 0.2} {
					var worst outcome
					told := 0
					for seed := range seeds {
						var o outcome
						synctest.Test(t, func(t *testing.T) {
							s := newSubject(t, seed)
							o = s.suffer(t, wire.Fault{Kind: kind, P: p, Delay: 150 * time.Millisecond,
								Bytes: string(stranger(name))})
						})
						worst.wrong, worst.recovery = max(worst.wrong, o.wrong), max(worst.recovery, o.recovery)
						if o.told {
							told++
						}
						what := fmt.Sprintf("%v %g, seed %d", kind, p, seed)
						if silent := kind == wire.PowerLoss || kind == wire.OpenWire && p == 0 ||
							kind == wire.Unplugged; silent && !o.told && p == 0 {
							t.Errorf("%s: not told", what)
						}
						// Without a checksum, what neighbours or the last turn agree with by chance is believed.
						if unchecked := name == "rplidar standard" && kind == wire.Corrupted; o.wrong > 0 &&
							!unchecked {
							t.Errorf("%s: %d cycles with wrong values", what, o.wrong)
						}
						if o.recovery > time.Second {
							t.Errorf("%s: well after %v", what, o.recovery)
						}
					}
					t.Logf("%-16s %-9v %-3g told %d of %d, wrong %d of 100 cycles, well after %v", name, kind, p, told,
						seeds, worst.wrong, worst.recovery)
				}
			}
		})
	}
}
