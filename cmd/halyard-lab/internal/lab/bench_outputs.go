package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// benchOutputs measures PWM boards and I2C sensors: the wire time of a Write or a Read, compared with the shortest
// telegram for the same data. The drivers' further bytes detect a reset of the chip.
func benchOutputs(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	var all []benchDevice
	for _, hertz := range []int{400_000, 1_000_000} {
		for _, n := range []int{6, 12, 16} {
			all = append(all, benchPCA9685(hertz, n))
		}
	}
	for _, baud := range []int{9600, 115_200, 200_000} {
		for _, n := range []int{6, 12, 18, 24} {
			all = append(all, benchMaestro(baud, n))
		}
	}
	for _, d := range append(append(all, benchChips(400_000)...), benchSerialIMU(115_200)) {
		f, err := d.Measure(ctx, size.StepsOr(400))
		if err != nil {
			return fmt.Errorf("bench: drivers: %s: %w", d.name, err)
		}
		emit(bench.Result{Bench: "drivers", Case: d.name, Figures: f})
	}
	return nil
}

// benchDevice is one device under measurement.
type benchDevice struct {
	name  string
	bound time.Duration // on the wire
	// open makes it. use is what is measured, wire returns the wire's time so far, spent the processor's time behind
	// the driver.
	open func() (use func(k int) error, wire, spent func() time.Duration, err error)
}

// Measure is the figures of a device.
func (d *benchDevice) Measure(ctx context.Context, times int) (_ bench.Figures, err error) {
	defer must.Catch(&err)
	use, wire, spent, err := d.open()
	if err != nil {
		return nil, err
	}
	must.Be(use(0))
	var cpu, allocs [bench.Blocks]float64
	block, start := bench.PerBlock(times), wire()
	for b := range cpu {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began, behind := time.Now(), spent()
		for k := range block {
			must.Be(errors.Join(use(k), ctx.Err()))
		}
		cpu[b] = 1e6 * (time.Since(began) - spent() + behind).Seconds() / float64(block)
		runtime.ReadMemStats(&after)
		allocs[b] = float64(after.Mallocs-before.Mallocs) / float64(block)
	}
	took := (wire() - start).Seconds() / float64(block*bench.Blocks)
	return bench.Figures{
		{Name: "cycle_ms", Value: report.Number(1e3 * took)},
		{Name: "bound_ms", Value: report.Number(1e3 * d.bound.Seconds())},
		{Name: "ratio", Value: report.Number(d.bound.Seconds() / took)},
		{Name: "cpu_us", Value: report.Number(slices.Min(cpu[:]))},
		{Name: "allocs", Value: report.Number(bench.Median(allocs[:]))}, {Name: "bound_allocs", Value: 0},
	}, nil
}

// timedI2C is a bus that measures the processor's time of its own calls.
type timedI2C struct {
	conn.Bus
	spent time.Duration
}

func (b *timedI2C) Tx(addr uint16, w, r []byte) error {
	began := time.Now()
	defer func() { b.spent += time.Since(began) }()
	return b.Bus.Tx(addr, w, r)
}

// The bits of transactions: 9 a byte, the address's among them, and one each for start, repeated start and stop.
func toldBits(bytes int) int { return 1 + 9*(1+bytes) + 1 }

func askedBits(written, asked int) int {
	return 1 + 9*(1+written) + 1 + 9*(1+asked) + 1
}

// sweep is pulses that change with k, as a moving robot's do.
func sweep(pulses []time.Duration, k int) []time.Duration {
	for i := range pulses {
		pulses[i] = 1500*time.Microsecond + time.Duration(k%2)*100*time.Microsecond
	}
	return pulses
}

// benchPCA9685 is n channels, all written in one transaction: the register and 4 bytes each.
func benchPCA9685(hertz, n int) benchDevice {
	return benchDevice{fmt.Sprintf("pca9685, %d kHz, %d channels", hertz/1000, n),
		servo.WireTime(1, toldBits(1+4*n), hertz),
		func() (func(int) error, func() time.Duration, func() time.Duration, error) {
			bus := chip.NewBus("bench", hertz, 1, chip.NewPCA9685(pwm.PCA9685Address, pwm.PCA9685Oscillator))
			host := bus.Host()
			timed := &timedI2C{Bus: host}
			d, err := pwm.NewPCA9685(timed, pwm.PCA9685Config{Channels: n, Clock: host})
			if err == nil {
				err = d.Open()
			}
			pulses := make([]time.Duration, n)
			return func(k int) error { return d.Write(sweep(pulses, k)) }, bus.Busy,
				func() time.Duration { return timed.spent }, err
		}}
}

// benchMaestro is n channels in the compact protocol: 4 bytes each of a Micro, 3 and 2 each of the others, and the
// board's errors, a request of 1 byte and an answer of 2, which are the only acknowledgement.
func benchMaestro(baud, n int) benchDevice {
	bytes := 3 + 2*n + 3
	if n <= 6 {
		bytes = 4*n + 3
	}
	return benchDevice{fmt.Sprintf("maestro, %d baud, %d channels", baud, n), servo.WireTime(bytes, 10, baud),
		func() (func(int) error, func() time.Duration, func() time.Duration, error) {
			line := chip.NewSerial("bench", baud, 1, chip.NewMaestro(n, 12, false))
			timed := &clocked{pieces: true}
			open := func() (l servo.Line, err error) {
				timed.Line, err = line.Open()
				return timed, err
			}
			d, err := pwm.NewMaestro(open, pwm.MaestroConfig{Channels: n, Device: -1})
			if err == nil {
				err = d.Open()
			}
			pulses := make([]time.Duration, n)
			return func(k int) error { return d.Write(sweep(pulses, k)) }, line.Now,
				func() time.Duration { return timed.spent }, err
		}}
}

// benchChips are the sensors on an I2C bus, each with only the bits of its values.
func benchChips(hertz int) []benchDevice {
	type sensor interface {
		Open() error
		Read(values []float64) error
	}
	conversion := toldBits(1) + askedBits(1, 3) // of an MS5837
	var all []benchDevice
	for _, c := range []struct {
		name string
		bits int
		chip chip.Device
		make func(bus conn.Bus, host *chip.Host) (sensor, error)
	}{
		{"bno055", askedBits(1, 32), chip.NewBNO055(imu.BNO055Address), func(b conn.Bus, h *chip.Host) (sensor, error) {
			return imu.NewBNO055(b, imu.BNO055Config{Clock: h}), nil
		}},
		{"mpu-6050", askedBits(1, 14), chip.NewMPU("mpu-6050", imu.MPUAddress),
			func(b conn.Bus, h *chip.Host) (sensor, error) {
				return imu.NewMPU(b, imu.MPUConfig{Clock: h})
			}},
		{"lsm6dsox", askedBits(1, 14), chip.NewLSM6(imu.LSM6Address), func(b conn.Bus, h *chip.Host) (sensor, error) {
			return imu.NewLSM6(b, imu.LSM6Config{Clock: h})
		}},
		{"ms5837-30ba", 2 * conversion, chip.NewMS5837(pressure.MS5837_30BA()),
			func(b conn.Bus, h *chip.Host) (sensor, error) {
				return pressure.NewMS5837(b, pressure.MS5837Config{Clock: h})
			}},
		{"bmp280", askedBits(1, 6), chip.NewBMX280(pressure.BMX280Address, false),
			func(b conn.Bus, h *chip.Host) (sensor, error) {
				return pressure.NewBMX280(b, pressure.BMX280Config{Clock: h}), nil
			}},
		{"ads1115, 4 inputs", 4 * (toldBits(3) + askedBits(1, 2)), chip.NewADS1115(adc.ADS1115Address),
			func(b conn.Bus, h *chip.Host) (sensor, error) {
				return adc.NewADS1115(b, adc.ADS1115Config{Clock: h,
					Inputs: []adc.ADS1115In{{Input: 0}, {Input: 1}, {Input: 2}, {Input: 3}}})
			}},
		{"ina219", 2 * askedBits(1, 2), chip.NewINA219(adc.INA219Address, 0.1),
			func(b conn.Bus, h *chip.Host) (sensor, error) {
				return adc.NewINA219(b, adc.INA219Config{Clock: h})
			}},
	} {
		all = append(all, benchDevice{fmt.Sprintf("%s, %d kHz", c.name, hertz/1000), servo.WireTime(1, c.bits, hertz),
			func() (func(int) error, func() time.Duration, func() time.Duration, error) {
				bus := chip.NewBus("bench", hertz, 1, c.chip)
				host := bus.Host()
				timed := &timedI2C{Bus: host}
				s, err := c.make(timed, host)
				if err == nil {
					err = s.Open()
				}
				values := make([]float64, 10)
				return func(int) error {
					err := s.Read(values)
					return errors.Join(err, bus.Advance(20*time.Millisecond))
				}, bus.Busy, func() time.Duration { return timed.spent }, err
			}})
	}
	return all
}

// benchSerialIMU is a BNO055 on its UART: a request of 4 bytes, an answer of 2 and 32.
func benchSerialIMU(baud int) benchDevice {
	return benchDevice{fmt.Sprintf("bno055, %d baud", baud), servo.WireTime(4+2+32, 10, baud),
		func() (func(int) error, func() time.Duration, func() time.Duration, error) {
			line := chip.NewSerial("bench", baud, 1, chip.NewBNO055(imu.BNO055Address))
			timed := &clocked{}
			open := func() (l servo.Line, err error) {
				timed.Line, err = line.Open()
				return timed, err
			}
			s := imu.NewBNO055Serial("bench", open, imu.BNO055Config{Clock: line})
			err := s.Open()
			values := make([]float64, 10)
			return func(int) error { return s.Read(values) }, line.Now, func() time.Duration { return timed.spent }, err
		}}
}
