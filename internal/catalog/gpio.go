package catalog

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
)

// GPIOBus is the type of bus that is a GPIO chip.
const GPIOBus = "gpio"

// PinDevice is what a device on GPIO lines has in addition to a sensor.
type PinDevice struct {
	Lines []string // the function of each line, in the order of the config
	low   bool     // the low level is the active one, usually
	Bias  gpio.Bias
	Turns bool // a sonar: its levels are fixed, and sonars take turns
	Waits bool // a Read waits for an edge: it is read without a pause
	// Part returns the emulated device on lines at, and the function that passes it the ground truth.
	Part func(p *SensorPlan, at []int) (pins.Part, func(*GroundTruth))
}

// maxWait is how long a device waits for an edge before it checks its line all the same.
const maxWait = 100 * time.Millisecond

// lineKinds are the devices on lines of a GPIO chip that may be a robot's sensor.
func lineKinds() map[string]*SensorKind {
	kind := func(values int, first map[string]int, open func(Connection, *SensorPlan) (drivers.Sensor, error),
		l PinDevice) *SensorKind {
		return &SensorKind{Buses: []string{GPIOBus}, Values: values, First: first, Open: open, On: &l}
	}
	return map[string]*SensorKind{
		"bumper": kind(1, map[string]int{"contact": 0}, func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
			return gpio.NewBumper(p.Pins(e), gpio.BumperConfig{Debounce: p.Config.Debounce, Wait: p.wait(e)}), nil
		}, PinDevice{Lines: []string{"the switch"}, low: true, Bias: gpio.Up, Waits: true, Part: bumperPart}),
		"pir": kind(1, map[string]int{"motion": 0}, func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
			c := gpio.PIRConfig{WarmUp: time.Minute, Debounce: p.Config.Debounce, Wait: p.wait(e)}
			if !e.Live { // emulated, it has been on for long; examined, only its present reading counts
				c.WarmUp = 0
			}
			return gpio.NewPIR(p.Pins(e), c), nil
		}, PinDevice{Lines: []string{"its output"}, Waits: true, Part: pirPart}),
		"hc-sr04": kind(1, map[string]int{"sonar": 0, "range": 0},
			func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
				return gpio.NewHCSR04(p.Pins(e), gpio.HCSR04Config{Celsius: p.Config.AirTemperature, Range: p.Most,
					Turn: p.Turn}), nil
			}, PinDevice{Lines: []string{"trigger", "echo"}, Turns: true, Part: sonarPart}),
		"encoder": kind(2, map[string]int{"encoder": 0}, func(e Connection, p *SensorPlan) (drivers.Sensor, error) {
			return gpio.NewEncoder(p.Pins(e)), nil
		}, PinDevice{Lines: []string{"A", "B"}, Bias: gpio.Up, Part: encoderPart}),
	}
}

// Pins are the lines of a device, as they are wired.
func (p *SensorPlan) Pins(e Connection) gpio.Pins {
	bias, biases := p.Kind.On.Bias, map[configs.Bias]gpio.Bias{configs.Up: gpio.Up, configs.Down: gpio.Down,
		configs.NoBias: gpio.NoBias}
	if b, ok := biases[p.Config.Bias]; ok {
		bias = b
	}
	return gpio.Pins{Bus: e.Name, Open: e.Lines, Lines: LineTexts(p.Config.Lines), ActiveLow: p.low(), Bias: bias,
		User: "halyard " + p.Name}
}

func (p *SensorPlan) low() bool { return configs.Or(p.Config.ActiveLow, p.Kind.On.low) }

// wait is how long a reading may wait for an edge: not at all in step with the cycle.
func (p *SensorPlan) wait(e Connection) time.Duration {
	if !e.Live {
		return 0
	}
	return min(maxWait, time.Duration(float64(time.Second)/p.Config.Rate))
}

// LineTexts returns lines as texts for the driver.
func LineTexts(lines []configs.Line) (list []string) {
	for _, l := range lines {
		list = append(list, string(l))
	}
	return list
}

// bumperPart is a switch to ground, or to the supply, with a resistor to the opposite level: when touched it sets the
// level of the switch or, if normally closed, releases it.
func bumperPart(p *SensorPlan, at []int) (pins.Part, func(*GroundTruth)) {
	up := p.Pins(Connection{}).Bias != gpio.Down
	s := &pins.Switch{Line: at[0], ToSupply: !up}
	closes := p.low() == up // when it is touched
	return s, func(t *GroundTruth) { s.Closed = (t.first() > 0) == closes }
}

func pirPart(p *SensorPlan, at []int) (pins.Part, func(*GroundTruth)) {
	s := &pins.PIR{Line: at[0], Low: p.low()}
	// It detects anything warm that moves; it does not identify people.
	return s, func(t *GroundTruth) { s.Moves = t.first() > 0.05 }
}

func sonarPart(p *SensorPlan, at []int) (pins.Part, func(*GroundTruth)) {
	s := &pins.Sonar{Trigger: at[0], Echo: at[1], Celsius: p.Config.AirTemperature, Distance: math.NaN()}
	return s, func(t *GroundTruth) {
		// A sensor of the robot reports its maximum range without an echo.
		if s.Distance = t.first(); s.Distance >= p.Most {
			s.Distance = math.NaN()
		}
	}
}

func encoderPart(p *SensorPlan, at []int) (pins.Part, func(*GroundTruth)) {
	s := &pins.Encoder{A: at[0], B: at[1]}
	return s, func(t *GroundTruth) {
		if ticks := t.first(); math.Abs(ticks) < 1<<52 {
			s.Count = int64(math.Round(ticks))
		}
	}
}

// Counted is a counter that counts from its last zero.
type Counted struct {
	drivers.Source
	now  [1]float64 // buffer of the device's reading
	last float64    // as last reported
	from float64
}

func (c *Counted) Values() int { return 1 }

func (c *Counted) Latest(dst []float64, first int) (age time.Duration, err error) {
	if age, err = c.Source.Latest(c.now[:], first); age >= 0 && len(dst) > 0 && !math.IsNaN(c.now[0]) {
		c.last = c.now[0]
		dst[0] = c.last - c.from
	}
	return age, err
}

// Zero makes the last reported count the new zero.
func (c *Counted) Zero() { c.from = c.last }
