package catalog

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
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// LSM6DSO32 is a chip with the identity of an lsm6dsox and other ranges.
const LSM6DSO32 = "lsm6dso32"

// The types of bus that are no line of servos, by the word of the config.
const (
	I2CBus    = "i2c"
	SPIBus    = "spi" // a port with one chip
	SerialBus = "serial"
)

// Connection is how a device is reached: a bus, or its own line. Its driver waits by the clock.
type Connection struct {
	Name  string
	Bus   conn.Bus     // of type i2c, or spi
	Open  servo.Opener // of type serial
	Lines gpio.Opener  // of type gpio
	Live  bool         // real, and at work: it is read in its own goroutine
	Clock hal.Clock    // nil = the wall's
}

// SensorKind is a device that measures, by the config's word.
type SensorKind struct {
	Buses     []string // the types that it is connected to
	Addresses []int    // on i2c, the usual one first
	Most      int      // maximum SPI clock, Hz; 0 = the default
	Baud      int      // its serial baud rate; 0 = any, which the driver finds
	Values    int
	// by the kind of the robot's sensor that it may be: which of its values is that one's first
	First    map[string]int
	Inertial bool // it is mounted some way, and has a calibration
	Field    int  // index of its first value of the magnetic field, x y z T; 0 = no magnetometer
	Reads    bool // tags
	// how far each value may be from the one before, where the wire has no checksum; see drivers.PollerConfig
	Jump    []float64
	Open    func(e Connection, p *SensorPlan) (drivers.Sensor, error)
	Emulate func(p *SensorPlan) Emulation
	// as another input of the emulated device d; nil: one sensor a device
	Joins   func(p *SensorPlan, d chip.Device) Emulation
	On      *PinDevice                                                    // where it is on lines of a GPIO chip
	Scanner func(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) // of one: open and emulate are its own
}

// Emulation is an emulated device: a chip or a board, and the function that passes it the ground truth.
type Emulation struct {
	Device chip.Device
	More   []chip.Device // that hide in it
	Board  wire.Board    // in place of Device, at the end of a serial line: it sends by itself
	Feel   func(*GroundTruth)
}

// As which sensors of a robot they may serve: an imu as a whole or in part, or as the angles of its attitude (tilted),
// pressure in Pa, a voltage in V.
func asInertial() map[string]int {
	return map[string]int{"imu": 0, "inertial": 0, "gyro": 4, "accelerometer": 7}
}

func asPressure() map[string]int { return map[string]int{"pressure": 0} }

func asVoltage() map[string]int { return map[string]int{"voltage": 0} }

// How far values jump that are true: an attitude turns at 30 rad/s at most, a robot falls on its side, a supply sags,
// and no water rises by 2 m between two readings.
func inertialJump() []float64 { return []float64{0.3, 0.3, 0.3, 0.3, 5, 5, 5, 30, 30, 30} }

func fluidJump() []float64 { return []float64{20e3, 5, 0.3} }

// SensorKinds are the devices that may be a robot's sensor.
func SensorKinds() map[string]*SensorKind {
	lsm6 := func() *SensorKind {
		return &SensorKind{Buses: []string{I2CBus, SPIBus}, Addresses: []int{imu.LSM6Address, imu.LSM6AddressAlt},
			Values: 10,
			First:  asInertial(), Inertial: true, Jump: inertialJump(), Open: openLSM6, Emulate: emulateLSM6}
	}
	kinds := map[string]*SensorKind{
		"lsm6dsox": lsm6(), LSM6DSO32: lsm6(),
		"bno055": {Buses: []string{I2CBus, SerialBus}, Addresses: []int{imu.BNO055Address, imu.BNO055AddressAlt},
			Baud: imu.BNO055Baud, Values: 10,
			First: asInertial(), Inertial: true, Jump: inertialJump(), Open: openBNO055, Emulate: emulateBNO055},
		"ina219": {Buses: []string{I2CBus}, Addresses: span(adc.INA219Address, 0x4F), Values: 3, First: asVoltage(),
			Jump: []float64{3, 20, 100},
			Open: openINA219, Emulate: emulateINA219},
		"ads1115": {Buses: []string{I2CBus}, Addresses: span(adc.ADS1115Address, 0x4B), Values: 1, First: asVoltage(),
			Jump: []float64{0.5},
			Open: openADS1115, Emulate: emulateADS1115, Joins: feelADS1115},
	}
	for _, m := range imu.MPUModels() {
		kinds[m.Name] = &SensorKind{Buses: []string{I2CBus, SPIBus},
			Addresses: []int{imu.MPUAddress, imu.MPUAddressAlt}, Values: 10,
			Most: imureg.MPUMaxSPIClock, First: asInertial(), Inertial: true, Jump: inertialJump(), Open: openMPU,
			Emulate: emulateMPU}
		if m.Compass {
			kinds[m.Name].Values, kinds[m.Name].Field = drivers.Field+3, drivers.Field
		}
		if m.Name == "mpu-6050" { // which has only I2C
			kinds[m.Name].Buses = []string{I2CBus}
		}
	}
	for _, m := range []*pressure.MS5837Model{pressure.MS5837_30BA(), pressure.MS5837_02BA()} {
		kinds[m.Name] = &SensorKind{Buses: []string{I2CBus}, Addresses: []int{pressure.MS5837Address}, Values: 2,
			First: asPressure(), Jump: fluidJump(),
			Open: func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
				return pressure.NewMS5837(e.Bus, pressure.MS5837Config{Model: m, Air: p.Config.ReferencePressure,
					Clock: e.Clock})
			},
			Emulate: func(p *SensorPlan) Emulation {
				c := chip.NewMS5837(m)
				return Emulation{Device: c, Feel: func(
					t *GroundTruth) {
					c.Water = t.fluid(p.Config.ReferencePressure)
				}}
			}}
	}
	for _, name := range []string{"bmp280", "bme280"} {
		humid := name == "bme280"
		kinds[name] = &SensorKind{Buses: []string{I2CBus, SPIBus},
			Addresses: []int{pressure.BMX280Address, pressure.BMX280AddressAlt},
			Values:    3, First: asPressure(), Jump: fluidJump(),
			Open: func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
				return pressure.NewBMX280(e.Bus, pressure.BMX280Config{Address: uint16(p.Address), Humidity: humid,
					Air: p.Config.ReferencePressure, Clock: e.Clock}), nil
			},
			Emulate: func(p *SensorPlan) Emulation {
				c := chip.NewBMX280(uint16(p.Address), humid)
				return Emulation{Device: c, Feel: func(t *GroundTruth) { c.Air = t.fluid(p.Config.ReferencePressure) }}
			}}
	}
	maps.Copy(kinds, lineKinds())
	maps.Copy(kinds, readerKinds())
	for name, of := range scannerKinds() {
		kinds[name] = &SensorKind{Buses: []string{SerialBus}, First: map[string]int{"range": 0}, Scanner: of,
			Open: func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
				s, err := p.Scanner.open(e.Name, e.Open)
				if err != nil {
					return nil, err
				}
				return newFanned(p.Scanner, s), nil
			}}
	}
	return kinds
}

func openBNO055(e Connection, p *SensorPlan) (drivers.Sensor, error) {
	c := imu.BNO055Config{Address: uint16(p.Address), Compass: p.Config.Compass, Clock: e.Clock}
	if known, err := hex.DecodeString(p.mounted().Chip); err == nil && len(known) == imureg.BNO055OffsetSize {
		c.Offsets = (*[imureg.BNO055OffsetSize]byte)(known)
	}
	if e.Open != nil {
		return drivers.NewMountedIMU(imu.NewBNO055Serial(e.Name, e.Open, c), p.mounted()), nil
	}
	return drivers.NewMountedIMU(imu.NewBNO055(e.Bus, c), p.mounted()), nil
}

func emulateBNO055(p *SensorPlan) Emulation {
	c := chip.NewBNO055(uint16(p.Address))
	return Emulation{Device: c, Feel: func(t *GroundTruth) { c.Motion = t.motion(p.truly()) }}
}

func openMPU(e Connection, p *SensorPlan) (drivers.Sensor, error) {
	raw, err := imu.NewMPU(e.Bus, imu.MPUConfig{Address: uint16(p.Address), Model: p.Config.Device,
		GyroRange: p.Config.GyroRange, AccRange: p.Config.AccRange, Clock: e.Clock})
	return p.fused(raw, e.Clock), err
}

func emulateMPU(p *SensorPlan) Emulation {
	c := chip.NewMPU(p.Config.Device, uint16(p.Address))
	f := Emulation{Device: c, Feel: func(t *GroundTruth) { c.Motion = t.motion(p.truly()) }}
	if m := imu.MPUModels(); slices.ContainsFunc(m,
		func(m imu.MPUModel) bool { return m.Name == p.Config.Device && m.Compass }) {
		f.More = []chip.Device{c.Compass([3]byte{128, 128, 128})}
	}
	return f
}

func openLSM6(e Connection, p *SensorPlan) (drivers.Sensor, error) {
	raw, err := imu.NewLSM6(e.Bus, imu.LSM6Config{Address: uint16(p.Address), GyroRange: p.Config.GyroRange,
		AccRange: p.Config.AccRange, DSO32: p.Config.Device == LSM6DSO32, Clock: e.Clock})
	return p.fused(raw, e.Clock), err
}

func emulateLSM6(p *SensorPlan) Emulation {
	c := chip.NewLSM6(uint16(p.Address))
	c.DSO32 = p.Config.Device == LSM6DSO32
	return Emulation{Device: c, Feel: func(t *GroundTruth) { c.Motion = t.motion(p.truly()) }}
}

func openINA219(e Connection, p *SensorPlan) (drivers.Sensor, error) {
	return adc.NewINA219(e.Bus, adc.INA219Config{Address: uint16(p.Address), Shunt: p.Config.Shunt, Clock: e.Clock})
}

func emulateINA219(p *SensorPlan) Emulation {
	c := chip.NewINA219(uint16(p.Address), p.Config.Shunt)
	return Emulation{Device: c, Feel: func(t *GroundTruth) { c.Volts = t.Volts(16) }}
}

func openADS1115(e Connection, p *SensorPlan) (drivers.Sensor, error) {
	return adc.NewADS1115(e.Bus, adc.ADS1115Config{Address: uint16(p.Address), Clock: e.Clock, Turn: p.chip(),
		Inputs: []adc.ADS1115In{{Input: p.Config.Input, Scale: p.Config.Scale}}})
}

// emulateADS1115 is a converter with the battery at its input, or, as a monitor, with a leak sensor that is dry.
func emulateADS1115(p *SensorPlan) Emulation {
	return feelADS1115(p, chip.NewADS1115(uint16(p.Address)))
}

// feelADS1115 is one input more of the emulated converter d.
func feelADS1115(p *SensorPlan, d chip.Device) Emulation {
	c := d.(*chip.ADS1115)
	return Emulation{Device: c, Feel: func(t *GroundTruth) {
		if len(p.Uses) > 0 {
			c.Volts[p.Config.Input] = t.Volts(16) / p.Config.Scale
		}
	}}
}

// OutputKind is a board that makes pulses, by the config's word.
type OutputKind struct {
	Bus       string // its type; "" = no bus
	Addresses []int  // the usual one first; nil = any, default -1
	Channels  []int  // how many a board may have, rising
	Open      func(e Connection, p *BoardPlan) (drivers.Output, error)
}

// OutputKinds are the boards that make pulses.
func OutputKinds() map[string]*OutputKind {
	return map[string]*OutputKind{
		"pca9685": {Bus: I2CBus, Addresses: span(pwm.PCA9685Address, 0x7F), Channels: []int{pwm.PCA9685Channels},
			Open: func(e Connection, p *BoardPlan) (drivers.Output, error) {
				return pwm.NewPCA9685(e.Bus, pwm.PCA9685Config{Address: uint16(p.Address), Channels: p.Channels,
					Hertz: p.Hertz, Oscillator: p.Oscillator, Alone: p.Alone, Clock: e.Clock})
			}},
		"maestro": {Bus: SerialBus, Channels: []int{6, 12, 18, 24},
			Open: func(e Connection, p *BoardPlan) (drivers.Output, error) {
				return pwm.NewMaestro(e.Open, pwm.MaestroConfig{Name: e.Name, Channels: p.Channels, Device: p.Address,
					CRC: p.Crc})
			}},
		"kernel-pwm": {Channels: []int{64}, Open: openKernel},
	}
}

// openKernel is the kernel's PWM: each channel is one output of a chip.
func openKernel(e Connection, p *BoardPlan) (drivers.Output, error) {
	c := pwm.KernelConfig{Root: p.Root, Clock: e.Clock}
	if p.Hertz > 0 {
		c.Period = time.Duration(float64(time.Second) / p.Hertz)
	}
	for i := range p.Channels {
		c.Channels = append(c.Channels, pwm.KernelChannel{Chip: max(0, p.Address), Output: i})
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

// Known reports which devices there are, in the words of a fault, and which was meant.
func Known[T any](kinds map[string]T, name string) (rule, fix string) {
	list := report.SortedKeys(kinds)
	return "one of " + strings.Join(list, ", "), Likely(name, list)
}
