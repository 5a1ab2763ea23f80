package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
)

// DevicePlan is all devices on a rig's buses, except servos.
type DevicePlan struct {
	Boards  []*catalog.BoardPlan
	Sensors []*catalog.SensorPlan
	linePlans
	Cameras []*CameraPlan
	Bases   []*BasePlan
}

// busPlace is an address of an I2C bus, or, as address -1, a line or a port with only one device.
type busPlace struct {
	bus     string
	address int
}

// seat is the device at a busPlace.
type seat struct {
	device string
	path   configs.Path
}

// sit assigns an address of a bus to device, and reports a device that has it already.
func (r *Resolver) sit(at configs.Path, bus, device string, address int) bool {
	if r.seats == nil {
		r.seats = map[busPlace]seat{}
	}
	if t := r.Config.Buses[bus].Type; t == catalog.SerialBus || t == catalog.SPIBus {
		address = -1
	}
	key := busPlace{bus, address}
	if s, taken := r.seats[key]; taken && s.device != device {
		key, got, rule := "address", fmt.Sprintf("0x%02X", address), "an address of its own on bus "+bus
		if address < 0 {
			key, got, rule = "bus", bus, "a line of its own"
		}
		r.fault(at.Key(key), got, rule, fmt.Sprintf("%s has it too", s.path))
		return false
	}
	r.seats[key] = seat{device, at}
	return true
}

// onBus checks that a device is connected to a bus of one of the types.
func (r *Resolver) onBus(at configs.Path, bus, device string, types []string) bool {
	b, there := r.Config.Buses[bus]
	switch {
	case bus == "" && len(types) > 0:
		r.fault(at.Key("bus"), "nothing", "a bus of type "+strings.Join(types, " or ")+", for "+device, "")
	case bus != "" && len(types) == 0:
		r.fault(at.Key("bus"), bus, "none, for "+device, "")
	case bus == "":
		return true
	case !there:
	case !slices.Contains(types, b.Type):
		r.fault(at.Key("bus"), bus+", which is "+b.Type, "a bus of type "+strings.Join(types, " or ")+", for "+device,
			"")
	default:
		return true
	}
	return false
}

// address returns the configured address, or the usual one. Without a list of addresses any is valid, and the default
// is -1.
func (r *Resolver) address(at configs.Path, given *int, addresses []int) (int, bool) {
	switch {
	case given == nil && len(addresses) == 0:
		return -1, true
	case given == nil:
		return addresses[0], true
	case len(addresses) == 0 || slices.Contains(addresses, *given):
		return *given, true
	}
	rule := fmt.Sprintf("0x%02X", addresses[0])
	if n := len(addresses); n > 1 {
		rule += fmt.Sprintf("..0x%02X", addresses[n-1])
	}
	r.fault(at.Key("address"), fmt.Sprintf("0x%02X", *given), rule, "")
	return 0, false
}

// Measure resolves the sensor devices of the robot p, and its monitors.
func (r *Resolver) Measure(path configs.Path, index int, c *configs.Agent, p *AgentPlan) {
	if p.Layout == nil {
		return
	}
	if p.Base != nil {
		p.Base.Agent = index
		r.devices.Bases = append(r.devices.Bases, p.Base)
	}
	at, hardware := path.Key("hardware"), c.Devices()
	for _, name := range report.SortedKeys(hardware.Sensors) {
		r.sensor(at.Key("sensors").Key(name), index, name, hardware.Sensors[name], c.BodyOf(name), p.Layout)
	}
	for _, name := range report.SortedKeys(hardware.Monitors) {
		r.sensor(at.Key("monitors").Key(name), index, name, hardware.Monitors[name], c.BodyOf(name), nil)
	}
}

// sensor resolves one device; layout is nil for a monitor.
func (r *Resolver) sensor(at configs.Path, agent int, name string, c configs.Sensor, body configs.BodyKind,
	layout *hal.Layout) {
	kinds := r.Catalog.Sensors
	kind := kinds[c.Device]
	if kind == nil {
		rule, fix := catalog.Known(kinds, c.Device)
		r.fault(at.Key("device"), c.Device, rule, fix)
		return
	}
	p := &catalog.SensorPlan{Agent: agent, Name: name, Config: c, Kind: kind, Body: body}
	if kind.Scanner != nil && layout == nil {
		r.fault(at.Key("device"), c.Device, "no scanner: it is a sensor of the robot, of kind range",
			"name it under hardware.sensors")
		return
	}
	if kind.Scanner != nil {
		bus := r.Config.Buses[c.Bus]
		of, unfit := kind.Scanner(&c, &bus)
		if unfit != nil {
			r.fault(at.Key(unfit.Key), unfit.Got, unfit.Rule, unfit.Fix)
			return
		}
		p.Scanner = of
	}
	if !r.ranges(at, &c) {
		return
	}
	if layout != nil && !r.use(at, p, layout) || !r.onBus(at, c.Bus, c.Device, kind.Buses) {
		return
	}
	if !r.lines(at, p) {
		return
	}
	// At another rate no byte can be received, and some devices report no error.
	if bus := r.Config.Buses[c.Bus]; bus.Type == catalog.SerialBus && kind.Baud != 0 && bus.Baud != kind.Baud {
		r.fault(configs.Path("buses").Key(c.Bus).Key("baud"), fmt.Sprint(bus.Baud),
			fmt.Sprintf("%d, for %s", kind.Baud, c.Device), "")
		return
	}
	p.Serial = r.Config.Buses[c.Bus].Type == catalog.SerialBus
	if r.Config.Buses[c.Bus].Type == catalog.SPIBus {
		if !r.selected(at, &c, kind) {
			return
		}
	} else if !p.Serial && kind.On == nil {
		var ok bool
		if p.Address, ok = r.address(at, c.Address, kind.Addresses); !ok {
			return
		}
	}
	// A chip may be several sensors of a robot: its gyro, its accelerometer.
	for _, other := range r.devices.Sensors {
		if kind.On == nil && kind.Joins == nil && len(p.Uses) > 0 && len(other.Uses) > 0 && other.Agent == agent &&
			other.Body == body && other.Config.Bus == c.Bus && other.Config.Device == c.Device &&
			other.Address == p.Address {
			other.Uses = append(other.Uses, p.Uses...)
			return
		}
	}
	device := c.Device + " " + string(at)
	if kind.Joins != nil {
		if device = c.Device; !r.input(at, p) {
			return
		}
	}
	if kind.On == nil && !r.sit(at, c.Bus, device, p.Address) {
		return
	}
	p.Calibration, p.Truth = r.inertial(at, p), r.truth(at, p)
	r.devices.Sensors = append(r.devices.Sensors, p)
}

// use finds the robot's sensor that the device is.
func (r *Resolver) use(at configs.Path, p *catalog.SensorPlan, l *hal.Layout) bool {
	var names []string
	for i := range l.Sensors {
		s := &l.Sensors[i]
		if names = append(names, s.Name); s.Name != p.Name {
			continue
		}
		first, fits := p.Kind.First[s.Kind]
		if !fits || first+s.Count > p.Values() {
			may := map[string]bool{}
			for device, k := range r.Catalog.Sensors {
				if first, ok := k.First[s.Kind]; ok && (k.Scanner != nil || first+s.Count <= k.Values) {
					may[device] = true
				}
			}
			rule := fmt.Sprintf("no device: none measures %s", s.Kind)
			if len(may) > 0 {
				rule, _ = catalog.Known(may, "")
				rule += ", for the sensor is of kind " + s.Kind
			}
			r.fault(at.Key("device"), p.Config.Device, rule, "")
			return false
		}
		p.Uses, p.Most = []catalog.Use{{Sensor: s.Name, First: first}}, l.Measured(s.First).Max
		return true
	}
	rule := "no sensor: the robot has none"
	if len(names) > 0 {
		rule = "a sensor of the robot: " + strings.Join(names, ", ")
	}
	r.fault(at, p.Name, rule, "monitors watch what no sensor of the robot is")
	return false
}

// inertial reads the calibration of an inertial sensor; other sensors have none.
func (r *Resolver) inertial(at configs.Path, p *catalog.SensorPlan) *calibration.Inertial {
	file := p.Config.Calibration
	if !p.Kind.Inertial {
		if file != "" {
			r.fault(at.Key("calibration"), file, "none, for "+p.Config.Device+" is no inertial sensor", "")
		}
		return nil
	}
	return calibrated(r, at, file, "a calibration file of this sensor, since it is real", p.Body,
		calibration.LoadInertial, p.Config.Device, func(c *calibration.Inertial) string { return c.Model })
}

// truth reads the ground truth of an emulated inertial sensor; nil: as calibrated.
func (r *Resolver) truth(at configs.Path, p *catalog.SensorPlan) *calibration.Inertial {
	at, file := at.Key("ground_truth"), p.Config.GroundTruth
	switch {
	case file == "":
		return nil
	case !p.Kind.Inertial:
		r.fault(at, file, "none, for "+p.Config.Device+" is no inertial sensor", "")
		return nil
	}
	c, err := calibration.LoadInertial(r.Config.Resolve(file))
	if err != nil {
		r.fault(at, file, "a calibration file of an inertial sensor", err.Error())
		return nil
	}
	return c
}
