package main

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// The types of bus that are no line of servos, by the word of the config.
const (
	i2cBus    = "i2c"
	spiBus    = "spi" // a port with one chip
	serialBus = "serial"
)

// end is what a device is reached by: a bus, or a line with it alone at its end. The clock is the one that it waits by.
type end struct {
	name  string
	bus   conn.Bus     // of type i2c, or spi
	open  servo.Opener // of type serial
	lines gpio.Opener  // of type gpio
	live  bool         // real, and at work: it is read beside the cycle
	clock hal.Clock    // nil = the wall's
}

// sensorKind is a device that measures, by the config's word.
type sensorKind struct {
	buses     []string // the types that it hangs on
	addresses []int    // on i2c, the usual one first
	most      int      // Hz that it takes on spi; 0 = what any does
	baud      int      // at which it talks at the end of a serial line; 0 = at any, which it looks for
	values    int
	first     map[string]int // by the kind of the robot's sensor that it may be: which of its values is that one's first
	inertial  bool           // it is mounted some way, and has a calibration
	reads     bool           // tags
	jump      []float64      // how far each value may be from the one before, where the wire has no checksum; see drivers.PollerConfig
	open      func(e end, p *sensorPlan) (drivers.Sensor, error)
	emulate   func(p *sensorPlan) emulatedDevice
	joins     func(p *sensorPlan, d chip.Device) emulatedDevice             // as another input of the emulated device d; nil: it is one sensor alone
	on        *lineKind                                                     // where it is on lines of a GPIO chip
	scanner   func(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) // of one: open and emulate are its own
}

// emulatedDevice is an emulated device: a chip or a board, and what hands it the truth.
type emulatedDevice struct {
	device chip.Device
	more   []chip.Device // that hide in it
	speaks uart.Board    // in place of device, at the end of a serial line: it speaks by itself
	feel   func(*groundTruth)
}

// As which sensors of a robot they may serve: an imu as a whole or in part, or as the angles of its attitude (tilted),
// pressure in Pa, a voltage in V.
func asInertial() map[string]int {
	return map[string]int{"imu": 0, "inertial": 0, "gyro": 4, "accelerometer": 7}
}
func asPressure() map[string]int { return map[string]int{"pressure": 0} }
func asVoltage() map[string]int  { return map[string]int{"voltage": 0} }

// How far values jump that are true: an attitude turns at 30 rad/s at most, a robot falls on its side, a supply sags, and no
// water rises by 2 m between two readings.
func inertialJump() []float64 { return []float64{0.3, 0.3, 0.3, 0.3, 5, 5, 5, 30, 30, 30} }
func fluidJump() []float64    { return []float64{20e3, 5, 0.3} }

// sensorKinds are the devices that may be a robot's sensor.
func sensorKinds() map[string]*sensorKind {
	kinds := map[string]*sensorKind{
		"bno055": {buses: []string{i2cBus, serialBus}, addresses: []int{imu.BNO055Address, imu.BNO055AddressAlt}, baud: imu.BNO055Baud, values: 10,
			first: asInertial(), inertial: true, jump: inertialJump(), open: openBNO055, emulate: emulateBNO055},
		"lsm6dsox": {buses: []string{i2cBus, spiBus}, addresses: []int{imu.LSM6Address, imu.LSM6AddressAlt}, values: 10,
			first: asInertial(), inertial: true, jump: inertialJump(), open: openLSM6, emulate: emulateLSM6},
		"ina219": {buses: []string{i2cBus}, addresses: span(adc.INA219Address, 0x4F), values: 3, first: asVoltage(), jump: []float64{3, 20, 100},
			open: openINA219, emulate: emulateINA219},
		"ads1115": {buses: []string{i2cBus}, addresses: span(adc.ADS1115Address, 0x4B), values: 1, first: asVoltage(), jump: []float64{0.5},
			open: openADS1115, emulate: emulateADS1115, joins: feelADS1115},
	}
	for _, m := range imu.MPUModels() {
		kinds[m.Name] = &sensorKind{buses: []string{i2cBus, spiBus}, addresses: []int{imu.MPUAddress, imu.MPUAddressAlt}, values: 10,
			most: imu.MPUFastest, first: asInertial(), inertial: true, jump: inertialJump(), open: openMPU, emulate: emulateMPU}
		if m.Name == "mpu-6050" { // which has I2C alone
			kinds[m.Name].buses = []string{i2cBus}
		}
	}
	for _, m := range []*pressure.MS5837Model{pressure.MS5837_30BA(), pressure.MS5837_02BA()} {
		kinds[m.Name] = &sensorKind{buses: []string{i2cBus}, addresses: []int{pressure.MS5837Address}, values: 2, first: asPressure(), jump: fluidJump(),
			open: func(e end, p *sensorPlan) (drivers.Sensor, error) {
				return pressure.NewMS5837(e.bus, pressure.MS5837Config{Model: m, Air: p.config.Air, Clock: e.clock})
			},
			emulate: func(p *sensorPlan) emulatedDevice {
				c := chip.NewMS5837(m)
				return emulatedDevice{device: c, feel: func(t *groundTruth) { c.Water = t.fluid(p.config.Air) }}
			}}
	}
	for _, name := range []string{"bmp280", "bme280"} {
		humid := name == "bme280"
		kinds[name] = &sensorKind{buses: []string{i2cBus, spiBus}, addresses: []int{pressure.BMX280Address, pressure.BMX280AddressAlt},
			values: 3, first: asPressure(), jump: fluidJump(),
			open: func(e end, p *sensorPlan) (drivers.Sensor, error) {
				return pressure.NewBMX280(e.bus, pressure.BMX280Config{Address: uint16(p.address), Humidity: humid, Air: p.config.Air, Clock: e.clock}), nil
			},
			emulate: func(p *sensorPlan) emulatedDevice {
				c := chip.NewBMX280(uint16(p.address), humid)
				return emulatedDevice{device: c, feel: func(t *groundTruth) { c.Air = t.fluid(p.config.Air) }}
			}}
	}
	maps.Copy(kinds, lineKinds())
	maps.Copy(kinds, readerKinds())
	for name, of := range scannerKinds() {
		kinds[name] = &sensorKind{buses: []string{serialBus}, first: map[string]int{"range": 0}, scanner: of,
			open: func(e end, p *sensorPlan) (drivers.Sensor, error) {
				s, err := p.scanner.open(e.name, e.open)
				if err != nil {
					return nil, err
				}
				return newFanned(p.scanner, s), nil
			}}
	}
	return kinds
}

func openBNO055(e end, p *sensorPlan) (drivers.Sensor, error) {
	c := imu.BNO055Config{Address: uint16(p.address), Compass: p.config.Compass, Clock: e.clock}
	if known, err := hex.DecodeString(p.mounted().Chip); err == nil && len(known) == imu.BNO055OffsetSize {
		c.Offsets = (*[imu.BNO055OffsetSize]byte)(known)
	}
	if e.open != nil {
		return drivers.NewMountedIMU(imu.NewBNO055Serial(e.name, e.open, c), p.mounted()), nil
	}
	return drivers.NewMountedIMU(imu.NewBNO055(e.bus, c), p.mounted()), nil
}

func emulateBNO055(p *sensorPlan) emulatedDevice {
	c := chip.NewBNO055(uint16(p.address))
	return emulatedDevice{device: c, feel: func(t *groundTruth) { c.Motion = t.motion(p.mounted()) }}
}

func openMPU(e end, p *sensorPlan) (drivers.Sensor, error) {
	raw, err := imu.NewMPU(e.bus, imu.MPUConfig{Address: uint16(p.address), Model: p.config.Device,
		GyroRange: p.config.GyroRange, AccRange: p.config.AccRange, Clock: e.clock})
	return p.fused(raw, e.clock), err
}

func emulateMPU(p *sensorPlan) emulatedDevice {
	c := chip.NewMPU(p.config.Device, uint16(p.address))
	f := emulatedDevice{device: c, feel: func(t *groundTruth) { c.Motion = t.motion(p.mounted()) }}
	if m := imu.MPUModels(); slices.ContainsFunc(m, func(m imu.MPUModel) bool { return m.Name == p.config.Device && m.Compass }) {
		f.more = []chip.Device{c.Compass([3]byte{128, 128, 128})}
	}
	return f
}

func openLSM6(e end, p *sensorPlan) (drivers.Sensor, error) {
	raw, err := imu.NewLSM6(e.bus, imu.LSM6Config{Address: uint16(p.address), GyroRange: p.config.GyroRange, AccRange: p.config.AccRange, Clock: e.clock})
	return p.fused(raw, e.clock), err
}

func emulateLSM6(p *sensorPlan) emulatedDevice {
	c := chip.NewLSM6(uint16(p.address))
	return emulatedDevice{device: c, feel: func(t *groundTruth) { c.Motion = t.motion(p.mounted()) }}
}

func openINA219(e end, p *sensorPlan) (drivers.Sensor, error) {
	return adc.NewINA219(e.bus, adc.INA219Config{Address: uint16(p.address), Shunt: p.config.Shunt, Clock: e.clock})
}

func emulateINA219(p *sensorPlan) emulatedDevice {
	c := chip.NewINA219(uint16(p.address), p.config.Shunt)
	return emulatedDevice{device: c, feel: func(t *groundTruth) { c.Volts = t.volts(16) }}
}

func openADS1115(e end, p *sensorPlan) (drivers.Sensor, error) {
	return adc.NewADS1115(e.bus, adc.ADS1115Config{Address: uint16(p.address), Clock: e.clock, Turn: p.chip(),
		Inputs: []adc.ADS1115In{{Input: p.config.Input, Scale: p.config.Scale}}})
}

// emulateADS1115 is a converter with the battery at its input, or, as a monitor, with a leak sensor that is dry.
func emulateADS1115(p *sensorPlan) emulatedDevice {
	return feelADS1115(p, chip.NewADS1115(uint16(p.address)))
}

// feelADS1115 is one input more of the emulated converter d.
func feelADS1115(p *sensorPlan, d chip.Device) emulatedDevice {
	c := d.(*chip.ADS1115)
	return emulatedDevice{device: c, feel: func(t *groundTruth) {
		if len(p.uses) > 0 {
			c.Volts[p.config.Input] = t.volts(16) / p.config.Scale
		}
	}}
}

// outputKind is a board that makes pulses, by the config's word.
type outputKind struct {
	bus       string // its type; "" = it needs none
	addresses []int  // the usual one first; nil = any, and none is -1
	channels  []int  // how many a board may have, rising
	open      func(e end, p *boardPlan) (drivers.Output, error)
}

// outputKinds are the boards that make pulses.
func outputKinds() map[string]*outputKind {
	return map[string]*outputKind{
		"pca9685": {bus: i2cBus, addresses: span(pwm.PCA9685Address, 0x7F), channels: []int{pwm.PCA9685Channels},
			open: func(e end, p *boardPlan) (drivers.Output, error) {
				return pwm.NewPCA9685(e.bus, pwm.PCA9685Config{Address: uint16(p.address), Channels: p.channels, Hertz: p.hertz,
					Oscillator: p.oscillator, Clock: e.clock})
			}},
		"maestro": {bus: serialBus, channels: []int{6, 12, 18, 24},
			open: func(e end, p *boardPlan) (drivers.Output, error) {
				return pwm.NewMaestro(e.open, pwm.MaestroConfig{Name: e.name, Channels: p.channels, Device: p.address, CRC: p.crc})
			}},
		"kernel-pwm": {channels: []int{64}, open: openKernel},
	}
}

// openKernel is the kernel's PWM: each channel is one output of a chip.
func openKernel(e end, p *boardPlan) (drivers.Output, error) {
	c := pwm.KernelConfig{Root: p.root, Clock: e.clock}
	if p.hertz > 0 {
		c.Period = time.Duration(float64(time.Second) / p.hertz)
	}
	for i := range p.channels {
		c.Channels = append(c.Channels, pwm.KernelChannel{Chip: max(0, p.address), Output: i})
	}
	return pwm.NewKernel(c)
}

// span lists the addresses from one to another.
func span(from, to int) (list []int) {
	for a := from; a <= to; a++ {
		list = append(list, a)
	}
	return list
}

// sortedKeys are the keys of m in order.
func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// known says which devices there are, in the words of a fault, and which was meant.
func known[T any](kinds map[string]T, name string) (rule, fix string) {
	list := sortedKeys(kinds)
	return "one of " + strings.Join(list, ", "), likely(name, list)
}
