package chip_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// wall is a host on a real machine: its transactions and waits take the bubble's time, as copper takes the wall's.
type wall struct {
	*chip.Host
	start time.Time
}

func (w wall) Now() time.Duration         { return time.Since(w.start) }
func (w wall) SleepUntil(t time.Duration) { time.Sleep(t - w.Now()) }

func (w wall) Tx(addr uint16, p, r []byte) error {
	w.Host.SleepUntil(w.Now())
	err := w.Host.Tx(addr, p, r)
	time.Sleep(w.Host.Now() - w.Now())
	return err
}

// As on the real ROV, each device has its own goroutine. The cycle takes no virtual time, for any behaviour of the
// devices. A bus that hangs for a second shows in ages and faults, and all devices recover within a second of its end.
func TestBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		water, out, chipIMU := chip.NewMS5837(pressure.MS5837_30BA()), chip.NewPCA9685(0x41, 25e6), chip.NewBNO055(0x28)
		bus := chip.NewBus("i2c-1", 400_000, 1, water, out, chipIMU)
		host := func() wall { return wall{bus.Host(), start} }

		h := host()
		depth, err := pressure.NewMS5837(h, pressure.MS5837Config{Clock: h})
		must(t, err)
		pollers := []*drivers.Poller{drivers.NewPoller(depth,
			drivers.PollerConfig{Values: 2, Period: 50 * time.Millisecond, Clock: h})}
		h = host()
		pollers = append(pollers, drivers.NewPoller(imu.NewBNO055(h, imu.BNO055Config{Clock: h}),
			drivers.PollerConfig{Values: 10, Period: 20 * time.Millisecond, Clock: h}))
		h = host()
		pca, err := pwm.NewPCA9685(h, pwm.PCA9685Config{Address: 0x41, Channels: thrusters, Clock: h})
		must(t, err)
		feeder := drivers.NewOutputWriter(pca, drivers.OutputWriterConfig{Channels: thrusters, Clock: h,
			Gate: out.Gate})

		must(t, feeder.Open())
		joints := make([]drivers.Joint, thrusters)
		for i := range joints {
			joints[i] = drivers.Joint{Writer: feeder, Channel: i}
		}
		body, err := drivers.Build(rovLayout(), joints, true)
		must(t, err)
		for i, name := range []string{"depth", "imu"} {
			must(t, pollers[i].Open())
			must(t, body.AttachSensor(name, pollers[i], 0))
		}
		f := hal.NewFrame(body.Layout())
		run := func(d time.Duration) {
			for range d / period {
				begin := time.Now()
				err := errors.Join(body.Write(f), feeder.Send(), feeder.Receive(), pollers[0].Receive(),
					pollers[1].Receive(), body.Read(f))
				if took := time.Since(begin); took != 0 || err != nil {
					t.Fatalf("the cycle waited %v: %v", took, err)
				}
				time.Sleep(period)
				f.Time += period
			}
		}
		for i := range thrusters {
			f.Enable[i], f.Inputs[i] = true, 0.5
		}
		run(4 * time.Second)
		well := func(when string) {
			t.Helper()
			for i, s := range f.Status {
				if s.Err != nil || f.Time-s.Time > 120*time.Millisecond {
					t.Errorf("%s: device %d: got %v of %v at %v", when, i, s.Err, s.Time, f.Time)
				}
			}
			near(t, "Pa", f.Measured[10], pressure.SeaLevel, 100)
			near(t, "attitude", f.Measured[0], 1, 1e-3)
		}
		well("running")
		synctest.Wait()
		if w, _ := out.Pulse(7); w < 1710*us || w > 1718*us {
			t.Errorf("pulse: got %v, want 1714 µs", w)
		}
		bus.Fault(wire.Fault{Kind: wire.HeldLow})
		run(2 * time.Second)
		for i, s := range f.Status {
			if s.Err == nil {
				t.Errorf("hanging: device %d: got no fault, its values are of %v at %v", i, s.Time, f.Time)
			}
		}
		bus.ClearFaults()
		run(time.Second) // the second that each was caught in
		run(time.Second)
		well("after a hang")
		run(3 * time.Second) // armed again
		must(t, body.Halt())
		synctest.Wait()
		for i := range thrusters {
			if w, _ := out.Pulse(i); w != 0 {
				t.Errorf("halted: thruster %d: got %v", i, w)
			}
		}
		must(t, errors.Join(feeder.Close(), pollers[0].Close(), pollers[1].Close()))
	})
}
