package doctor

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// The budget of an I2C bus or a port of SPI, as that of a line of servos, is measured: each device's own driver runs by
// itself on an emulated one, in virtual time.

// portion is what one device takes of a bus's time.
type portion struct {
	device string
	share  float64
}

// budgets compares what the devices of each bus take of it with what there is.
func (x *DeviceCheck) budgets() {
	for _, name := range report.SortedKeys(x.plan.Config.Buses) {
		bus := x.plan.Config.Buses[name]
		if bus.Type != catalog.I2CBus && bus.Type != catalog.SPIBus {
			continue
		}
		hertz := bus.Frequency
		var parts []portion
		var fault error
		add := func(device string, took time.Duration, perSecond float64, err error) {
			parts, fault = append(parts, portion{device, took.Seconds() * perSecond}), errors.Join(fault, err)
		}
		for _, p := range x.plan.Boards {
			if body, examined := x.body(p.Body); examined && p.Bus == name {
				hertz = x.Hertz(&bus, body)
				took, err := x.boardTime(p, hertz)
				add(p.Device, took, float64(time.Second)/float64(x.plan.Config.Clock.Period), err)
			}
		}
		for _, p := range x.plan.Sensors {
			if body, examined := x.body(p.Body); examined && p.Config.Bus == name {
				hertz = x.Hertz(&bus, body)
				took, err := x.sensorTime(p, hertz)
				add(p.Name, took, p.Config.Rate, err)
			}
		}
		if len(parts) > 0 && fault == nil { // what cannot even be opened by itself is a finding of its own
			x.weigh(name, hertz, parts)
		}
	}
}

// Hertz is the clock of an I2C bus: of a real one the device tree's, if it has one.
func (x *DeviceCheck) Hertz(bus *configs.Bus, body configs.BodyKind) int {
	node := filepath.Join(x.Root, "sys/class/i2c-adapter", filepath.Base(bus.Port), "of_node/clock-frequency")
	if data, err := os.ReadFile(node); body == configs.Real && err == nil && len(data) == 4 {
		if v := binary.BigEndian.Uint32(data); v >= 1000 {
			return int(v)
		}
	}
	return bus.Frequency
}

// weigh reports the load of a bus.
func (x *DeviceCheck) weigh(name string, hertz int, parts []portion) {
	slices.SortStableFunc(parts, func(a, b portion) int { return int(1e6 * (b.share - a.share)) })
	var sum float64
	var texts []string
	for _, p := range parts {
		sum += p.share
		texts = append(texts, fmt.Sprintf("%s %.0f %%", p.device, 100*p.share))
	}
	f := Finding{Check: "load", State: StateOK, Bus: name,
		Found: fmt.Sprintf("busy %.0f %% of the time at %d Hz: %s", 100*sum, hertz, strings.Join(texts, ", "))}
	if sum > busy {
		f.State = StateWarn
		if sum > full {
			f.State, f.Kind = StateFail, hal.BusFault
		}
		var options []string
		for _, faster := range []int{400_000, 1_000_000} {
			if faster > hertz && x.plan.Config.Buses[name].Type == catalog.I2CBus {
				options = append(options, fmt.Sprintf("%d Hz (dtparam=i2c_arm_baudrate=%d): %.0f %%", faster, faster,
					100*sum*float64(hertz)/float64(faster)))
			}
		}
		f.Fix = strings.Join(append(options, "a lower rate of "+parts[0].device, "a second bus"), "; ")
	}
	x.Found = append(x.Found, f)
}

// Turns of a device whose time is measured: the first ones set it up.
const (
	settling = 3
	measured = 5
)

// sensorTime is how long one reading of a device takes on a wire of hertz.
func (x *DeviceCheck) sensorTime(p *catalog.SensorPlan, hertz int) (time.Duration, error) {
	f := p.Kind.Emulate(p)
	t := catalog.NewTruth(x.b.Emulation.Look(x.b.Simulated(p.Agent)), p.Uses)
	if p.Kind.Reads {
		t.Tags = &catalog.Field{GroundTruth: t} // without a tag
	}
	f.Feel(t)
	bus := chip.NewBus("trial", hertz, 1, append([]chip.Device{f.Device}, f.More...)...)
	s, err := p.Kind.Open(assembly.EndOf("trial", bus, x.plan.Config.Buses[p.Config.Bus].Type == catalog.SPIBus), p)
	if err != nil {
		return 0, err
	}
	values := make([]float64, p.Values())
	period := time.Duration(float64(time.Second) / p.Config.Rate)
	return wireTime(bus, period, s.Open, func(int) error { return s.Read(values) })
}

// boardTime is how long the setting of all channels of a board takes.
func (x *DeviceCheck) boardTime(p *catalog.BoardPlan, hertz int) (time.Duration, error) {
	oscillator := cmp.Or(p.Oscillator, 25e6)
	bus := chip.NewBus("trial", hertz, 1, chip.NewPCA9685(uint16(p.Address), oscillator))
	host := bus.Host()
	out, err := p.Kind.Open(catalog.Connection{Name: "trial", Bus: host, Clock: host}, p)
	if err != nil {
		return 0, err
	}
	widths := make([]time.Duration, p.Channels)
	return wireTime(bus, x.plan.Config.Clock.Period, out.Open, func(turn int) error {
		for i := range widths {
			widths[i] = time.Duration(1400+turn) * time.Microsecond
		}
		return out.Write(widths)
	})
}

// wireTime is the mean time that a turn keeps bus busy.
func wireTime(bus *chip.Bus, period time.Duration, open func() error, turn func(i int) error) (time.Duration, error) {
	if err := open(); err != nil {
		return 0, err
	}
	var before time.Duration
	for i := range settling + measured {
		if i == settling {
			before = bus.Busy()
		}
		if err := errors.Join(bus.Advance(max(period, time.Second)), turn(i)); err != nil {
			return 0, err
		}
	}
	return (bus.Busy() - before) / measured, nil
}
