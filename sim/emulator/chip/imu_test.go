package chip_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// sensor is drivers.Sensor.
type sensor interface {
	Open() error
	Read(values []float64) error
	Close() error
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, within)
	}
}

// tilted is a motion with something in every axis.
func tilted() chip.Motion {
	s, c := math.Sincos(0.3)
	return chip.Motion{Attitude: [4]float64{c, s * 0.6, 0, s * 0.8}, Rates: [3]float64{0.5, -1.25, 2},
		Acceleration: [3]float64{-3, 4.5, 8.25}, Field: [3]float64{18e-6, -7e-6, -44e-6}, Celsius: 31}
}

// The BNO055 reports its motion over both wires, and finds itself again after a loss of power.
func TestBNO055(t *testing.T) {
	for _, compass := range []bool{false, true} {
		for _, over := range []string{"i2c", "serial"} {
			c := chip.NewBNO055(imu.BNO055Address)
			c.Motion = tilted()
			var s sensor
			var fault func(wire.Fault)
			var pass func(time.Duration) error
			var clock hal.Clock
			if over == "i2c" {
				bus := chip.NewBus("i2c", 400_000, 1, c)
				host := bus.Host()
				clock, fault, pass = host, bus.Fault, bus.Advance
				s = imu.NewBNO055(host, imu.BNO055Config{Compass: compass, Clock: host})
			} else {
				line := chip.NewSerial("uart", imu.BNO055Baud, 1, c)
				clock, fault, pass = line, line.Fault, line.Advance
				s = imu.NewBNO055Serial("uart", line.Open, imu.BNO055Config{Compass: compass, Clock: line})
			}
			t.Run(over, func(t *testing.T) {
				must(t, s.Open())
				if took := clock.Now(); took > 60*time.Millisecond {
					t.Errorf("opening: took %v, want 60 ms at most of a chip that has booted", took)
				}
				begin := clock.Now()
				check := func() {
					t.Helper()
					values := make([]float64, 10)
					must(t, s.Read(values))
					for i := range 4 {
						near(t, "attitude", values[i], c.Motion.Attitude[i], 1e-4)
					}
					for i := range 3 {
						near(t, "rate", values[4+i], c.Motion.Rates[i], math.Pi/180/32*1.001)
						near(t, "acceleration", values[7+i], c.Motion.Acceleration[i], 0.0051)
					}
				}
				check()
				t.Logf("a read takes %v", clock.Now()-begin)
				// Power lost and back: the driver reports no old values, and opening finds the chip once it has booted.
				fault(wire.Fault{Kind: wire.PowerLoss, For: 10 * time.Millisecond})
				must(t, pass(clock.Now()+time.Millisecond))
				if err := s.Read(make([]float64, 10)); err == nil {
					t.Error("without power: got values")
				}
				must(t, pass(100*time.Millisecond))
				must(t, s.Open())
				check()
				must(t, s.Close())
			})
		}
	}
}

// A chip that lost its settings between two reads says zeros; they are not handed on.
func TestBNO055Forgets(t *testing.T) {
	c := chip.NewBNO055(imu.BNO055Address)
	bus := chip.NewBus("i2c", 400_000, 1, c)
	host := bus.Host()
	s := imu.NewBNO055(host, imu.BNO055Config{Clock: host})
	must(t, s.Open())
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Millisecond})
	must(t, bus.Advance(5*time.Millisecond))
	must(t, bus.Advance(time.Second)) // it has booted meanwhile
	if err := s.Read(make([]float64, 10)); hal.KindOf(err) != hal.Absent {
		t.Errorf("got %v", err)
	}
}

// A chip that another program left at its other page is found.
func TestBNO055Page(t *testing.T) {
	for _, wire := range []string{"i2c", "serial"} {
		c := chip.NewBNO055(imu.BNO055Address)
		bus, line := chip.NewBus("i2c", 400_000, 1, c), chip.NewSerial("uart", imu.BNO055Baud, 1, c)
		host := bus.Host()
		s := imu.NewBNO055(host, imu.BNO055Config{Clock: host})
		if wire == "serial" {
			s = imu.NewBNO055Serial("uart", line.Open, imu.BNO055Config{Clock: line})
			must(t, line.Advance(time.Second))
		}
		must(t, bus.Advance(time.Second))
		must(t, host.Tx(imu.BNO055Address, []byte{imureg.BNO055Page, 1}, nil))
		id := []byte{9}
		must(t, host.Tx(imu.BNO055Address, []byte{imureg.BNO055ChipID}, id))
		if id[0] != 0 {
			t.Fatalf("%s: page 1: got identity %02X", wire, id[0])
		}
		must(t, s.Open())
		must(t, s.Read(make([]float64, 10)))
	}
}

func TestMPU(t *testing.T) {
	for _, model := range imu.MPUModels() {
		t.Run(model.Name, func(t *testing.T) {
			c := chip.NewMPU(model.Name, imu.MPUAddress)
			c.Motion = tilted()
			devices := []chip.Device{c}
			if model.Compass {
				devices = append(devices, c.Compass([3]byte{176, 160, 128}))
			}
			bus := chip.NewBus("i2c", 400_000, 1, devices...)
			host := bus.Host()
			s, err := imu.NewMPU(host, imu.MPUConfig{Clock: host})
			must(t, err)
			must(t, s.Open())
			values := make([]float64, 10)
			must(t, s.Read(values))
			for i := range 3 {
				near(t, "rate", values[i], c.Motion.Rates[i], math.Pi/180/65.5*0.51)
				near(t, "acceleration", values[3+i], c.Motion.Acceleration[i], 9.80665/8192*0.51)
				if model.Compass {
					near(t, "field", values[6+i], c.Motion.Field[i], 0.1e-6)
				} else if !math.IsNaN(values[6+i]) {
					t.Errorf("field: got %v of a chip without one", values[6+i])
				}
			}
			near(t, "°C", values[9], 31, 0.01)
			// A chip that sleeps with its settings gone has old samples that look like any.
			bus.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Millisecond})
			must(t, bus.Advance(host.Now()+5*time.Millisecond))
			must(t, bus.Advance(100*time.Millisecond))
			if err := s.Read(values); hal.KindOf(err) != hal.Absent {
				t.Errorf("reset: got %v", err)
			}
			must(t, s.Open())
			must(t, s.Read(values))
		})
	}
}

// A stranger at the address, and no chip at all.
func TestIdentity(t *testing.T) {
	bus := chip.NewBus("i2c", 400_000, 1, chip.NewMPU("mpu-9250", imu.MPUAddress))
	host := bus.Host()
	s, err := imu.NewMPU(host, imu.MPUConfig{Model: "mpu-6050", Clock: host})
	must(t, err)
	if err := s.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("another chip: got %v", err)
	}
	empty := chip.NewBus("i2c", 400_000, 1).Host()
	for _, s := range []sensor{imu.NewBNO055(empty, imu.BNO055Config{Clock: empty})} {
		if err := s.Open(); hal.KindOf(err) != hal.Absent {
			t.Errorf("nothing there: got %v", err)
		}
	}
}
