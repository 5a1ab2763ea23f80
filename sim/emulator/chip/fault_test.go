package chip_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// subject is one device under faults: read in step with cycles of 10 ms.
type subject struct {
	advance func(time.Duration) error
	fault   func(wire.Fault)
	clear   func()
	poller  *drivers.Poller       // of a sensor
	feeder  *drivers.OutputWriter // of an output
	truth   []float64             // what the sensor must say, NaN = anything
	within  float64
	pulse   func() time.Duration // what the output's channel 0 puts out
	serial  bool
}

// sensing is a subject of one sensor on a bus of its own.
func sensing(t *testing.T, d []chip.Device, truth []float64, within float64,
	make func(h *chip.Host) (drivers.Sensor, error)) *subject {
	t.Helper()
	bus := chip.NewBus("i2c", 400_000, 3, d...)
	host := bus.Host()
	s, err := make(host)
	must(t, err)
	p := drivers.NewPoller(s, drivers.PollerConfig{Values: len(truth), Period: 20 * time.Millisecond, Clock: host,
		CycleTime: bus.Edge,
		Jump:      jump(truth, within)})
	must(t, p.Open())
	return &subject{advance: bus.Advance, fault: bus.Fault, clear: bus.ClearFaults, poller: p, truth: truth,
		within: within}
}

// jump believes at once what is within the tolerance of the value before.
func jump(truth []float64, within float64) []float64 {
	most := make([]float64, len(truth))
	for i := range most {
		most[i] = within
	}
	return most
}

var anything = math.NaN()

// subjects are all the devices that this package emulates, by name.
func subjects() []struct {
	name string
	make func(t *testing.T) *subject
} {
	level := []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 9.80665}
	raw := []float64{0, 0, 0, 0, 0, 9.80665, anything, anything, anything, 25}
	return []struct {
		name string
		make func(t *testing.T) *subject
	}{
		{"ms5837-30ba", func(t *testing.T) *subject {
			return sensing(t, []chip.Device{chip.NewMS5837(pressure.MS5837_30BA())}, []float64{pressure.SeaLevel, 20},
				100, func(h *chip.Host) (drivers.Sensor, error) {
					return pressure.NewMS5837(h, pressure.MS5837Config{Clock: h})
				})
		}},
		{"bme280", func(t *testing.T) *subject {
			return sensing(t, []chip.Device{chip.NewBMX280(0x76, true)}, []float64{pressure.SeaLevel, 20, 0.5}, 1,
				func(h *chip.Host) (drivers.Sensor, error) {
					return pressure.NewBMX280(h, pressure.BMX280Config{Clock: h}), nil
				})
		}},
		{"bno055 i2c", func(t *testing.T) *subject {
			return sensing(t, []chip.Device{chip.NewBNO055(0x28)}, level, 0.02,
				func(h *chip.Host) (drivers.Sensor, error) {
					return imu.NewBNO055(h, imu.BNO055Config{Clock: h}), nil
				})
		}},
		{"bno055 uart", func(t *testing.T) *subject {
			line := chip.NewSerial("uart", imu.BNO055Baud, 3, chip.NewBNO055(0x28))
			p := drivers.NewPoller(imu.NewBNO055Serial("uart", line.Open, imu.BNO055Config{Clock: line}),
				drivers.PollerConfig{Values: 10, Period: 20 * time.Millisecond, Clock: line, CycleTime: line.Edge,
					Jump: jump(level, 0.02)})
			must(t, p.Open())
			return &subject{advance: line.Advance, fault: line.Fault, clear: line.ClearFaults, poller: p, truth: level,
				within: 0.02, serial: true}
		}},
		{"mpu-6050", func(t *testing.T) *subject {
			return sensing(t, []chip.Device{chip.NewMPU("mpu-6050", 0x68)}, raw, 0.02,
				func(h *chip.Host) (drivers.Sensor, error) {
					return imu.NewMPU(h, imu.MPUConfig{Clock: h})
				})
		}},
		{"mpu-9250", func(t *testing.T) *subject {
			m := chip.NewMPU("mpu-9250", 0x68)
			return sensing(t, []chip.Device{m, m.Compass([3]byte{128, 128, 128})}, raw, 0.02,
				func(h *chip.Host) (drivers.Sensor, error) {
					return imu.NewMPU(h, imu.MPUConfig{Clock: h})
				})
		}},
		{"lsm6dsox", func(t *testing.T) *subject {
			return sensing(t, []chip.Device{chip.NewLSM6(0x6A)}, raw, 0.02, func(h *chip.Host) (drivers.Sensor, error) {
				return imu.NewLSM6(h, imu.LSM6Config{Clock: h})
			})
		}},
		{"ads1115", func(t *testing.T) *subject {
			d := chip.NewADS1115(0x48)
			d.Volts[0] = 1.5
			return sensing(t, []chip.Device{d}, []float64{1.5}, 0.001, func(h *chip.Host) (drivers.Sensor, error) {
				return adc.NewADS1115(h, adc.ADS1115Config{Clock: h, Inputs: []adc.ADS1115In{{Input: 0}}})
			})
		}},
		{"ina219", func(t *testing.T) *subject {
			d := chip.NewINA219(0x40, 0.1)
			d.Amps = 1
			return sensing(t, []chip.Device{d}, []float64{12, 1, 12}, 0.01, func(h *chip.Host) (drivers.Sensor, error) {
				return adc.NewINA219(h, adc.INA219Config{Clock: h})
			})
		}},
		{"pca9685", func(t *testing.T) *subject {
			d := chip.NewPCA9685(0x40, 25e6)
			bus := chip.NewBus("i2c", 400_000, 3, d)
			host := bus.Host()
			out, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Channels: 8, Clock: host})
			must(t, err)
			return feeding(t, out, host, bus.Edge,
				&subject{advance: bus.Advance, fault: bus.Fault, clear: bus.ClearFaults,
					pulse: func() time.Duration { w, _ := d.Pulse(0); return w }})
		}},
		{"maestro", func(t *testing.T) *subject {
			d := chip.NewMaestro(8, 12, true)
			line := chip.NewSerial("maestro", 115200, 3, d)
			out, err := pwm.NewMaestro(line.Open, pwm.MaestroConfig{Channels: 8, Device: 12, CRC: true})
			must(t, err)
			return feeding(t, out, line, line.Edge,
				&subject{advance: line.Advance, fault: line.Fault, clear: line.ClearFaults,
					pulse: func() time.Duration { return d.Pulse(0) }, serial: true})
		}},
	}
}

func feeding(t *testing.T, out drivers.Output, clock hal.Clock, edge func() time.Duration, s *subject) *subject {
	t.Helper()
	s.feeder = drivers.NewOutputWriter(out, drivers.OutputWriterConfig{Channels: 8, Clock: clock, CycleTime: edge})
	must(t, s.feeder.Open())
	return s
}

// outcome is the effect of a fault on a subject.
type outcome struct {
	detected bool          // the fault was detected
	wrong    int           // cycles with wrong values that were reported as valid
	recovery time.Duration // from the end of its cause to good values
}

// cycle lets one period pass and reports whether the subject is well, and whether it is well and wrong.
func (s *subject) cycle(t *testing.T) (well, wrong bool) {
	t.Helper()
	must(t, s.advance(10*time.Millisecond))
	if s.feeder != nil {
		s.feeder.Stage(0, 1500*time.Microsecond)
		must(t, s.feeder.Send())
		_, _, err := s.feeder.State()
		wide := s.pulse()
		return err == nil && wide > 0, err == nil && wide > 0 &&
			(wide < 1495*time.Microsecond || wide > 1505*time.Microsecond)
	}
	must(t, s.poller.Receive())
	values := make([]float64, len(s.truth))
	age, err := s.poller.Latest(values, 0)
	if err != nil || age < 0 || age > 50*time.Millisecond {
		return false, false
	}
	for i, want := range s.truth {
		wrong = wrong || math.Abs(values[i]-want) > s.within
	}
	return true, wrong
}

// suffer runs one fault for a second and waits for the recovery, for three seconds at most.
func (s *subject) suffer(t *testing.T, f wire.Fault) (o outcome) {
	t.Helper()
	for range 50 {
		s.cycle(t)
	}
	if well, wrong := s.cycle(t); !well || wrong {
		t.Fatalf("before the fault: well %v, wrong %v", well, wrong)
	}
	s.fault(f)
	for range 100 {
		well, wrong := s.cycle(t)
		o.detected = o.detected || !well
		if wrong {
			o.wrong++
		}
	}
	s.clear()
	for range 300 {
		o.recovery += 10 * time.Millisecond
		if well, wrong := s.cycle(t); well && !wrong {
			return o
		}
	}
	return o
}

// The matrix of issue "driver suite", Bad input, for the chips of this package. Neither I2C nor the BNO055's serial
// protocol protects its data: one bit that flips in a value on its way is a value. So settings and identities are
// looked at with every reading, what no sensor could report is refused, and what jumps must be reported twice; each
// device is well again within a second of the cause going away.
func TestFaults(t *testing.T) {
	for _, s := range subjects() {
		for _, kind := range append(wire.LineFaults(), wire.HeldLow) {
			for _, p := range []float64{0, 0.2} {
				subject := s.make(t)
				if onChip := kind == wire.PowerLoss || kind == wire.Dropped || kind == wire.Corrupted ||
					kind == wire.Garbage || kind == wire.HeldLow; !onChip && !subject.serial {
					continue
				}
				name := fmt.Sprintf("%s %v %g", s.name, kind, p)
				o := subject.suffer(t, wire.Fault{Kind: kind, P: p})
				t.Logf("%-24s detected %-5v wrong %3d of 100, well after %v", name, o.detected, o.wrong, o.recovery)
				most := 0 // with a wrong bit in every answer two in a row are wrong alike now and then
				if kind == wire.Corrupted && p == 0 {
					most = 10
				}
				switch {
				case o.recovery > time.Second:
					t.Errorf("%s: not well again within a second", name)
				case !o.detected && (kind == wire.PowerLoss || kind == wire.OpenWire || !subject.serial &&
					(kind == wire.Dropped || kind == wire.HeldLow)) && p == 0:
					t.Errorf("%s: not detected", name)
				case o.wrong > most:
					t.Errorf("%s: %d wrong values handed on as right", name, o.wrong)
				}
			}
		}
	}
}

// A fault of one device does not affect the others on the ROV's bus.
func TestFaultsStayLocal(t *testing.T) {
	for _, c := range []struct {
		addr uint16
		hit  int // device of the frame's status; 0..7 are the thrusters
	}{{0x76, 9}, {0x28, 8}, {0x41, 0}} {
		r := newROV(t, "pca9685", "bno055")
		f := hal.NewFrame(r.body.Layout())
		run := func(d time.Duration) {
			for range d / period {
				must(t, r.body.Write(f))
				for _, b := range r.buses() {
					must(t, b.Send())
				}
				must(t, r.Advance(period))
				for _, b := range r.buses() {
					must(t, b.Receive())
				}
				f.Time += period
				must(t, r.body.Read(f))
			}
		}
		run(500 * time.Millisecond)
		r.bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: int(c.addr)})
		run(time.Second)
		for i, s := range f.Status {
			hit := i == c.hit || c.hit < thrusters && i < thrusters
			if old := f.Time-s.Time > 200*time.Millisecond; hit != (s.Err != nil) || hit != old {
				t.Errorf("0x%02X off: device %d: got %v of %v at %v", c.addr, i, s.Err, s.Time, f.Time)
			}
		}
		r.bus.ClearFaults()
		run(time.Second)
		for i, s := range f.Status {
			if s.Err != nil {
				t.Errorf("0x%02X back: device %d: got %v", c.addr, i, s.Err)
			}
		}
	}
}
