package configs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// checker finds faults between keys. It ignores keys that have a fault of their own, so that one mistake is one fault.
type checker struct {
	*Config
	*yaml.Document
}

// add reports a fault at path unless there is one already.
func (c *checker) add(path Path, got, rule, fix string) { c.Document.Add(path, got, rule, fix) }

// clash reports that second has the same value as first. If an option set only first, the fault names the option.
func (c *checker) clash(first, second Path, got, rule string) {
	if c.option(first) != "" && c.option(second) == "" {
		first, second = second, first
	}
	c.add(second, got, rule, fmt.Sprintf("%s has it too", first))
}

// option is the option that set path, or "".
func (c *checker) option(path Path) string {
	if at := c.Place(path); at.Line == 0 && at.Source != c.Config.Source {
		return at.Source
	}
	return ""
}

// good reports whether path is in the document and without a fault.
func (c *checker) good(path Path) bool { return c.Document.Has(path) && !c.Bad(path) }

func (c *checker) check() {
	if len(c.Agents) == 0 && len(c.Classes) == 0 {
		c.add("agents", "nothing", "at least one agent or class", "")
	}
	if p := c.Clock.Period; p%time.Microsecond != 0 {
		c.add("clock.period", p.String(), "whole microseconds", "")
	}
	if s := c.World.Substep; c.good("world.substep") && c.Clock.Period%s != 0 {
		c.add("world.substep", s.String(), fmt.Sprintf("a whole part of clock.period, %v", c.Clock.Period), "")
	}
	c.checkNames()
	c.checkBuses()
	for _, r := range c.Robots() {
		c.checkRobot(r)
	}
	c.checkIDs()
	c.checkServers()
}

// checkNames finds agents that cannot be distinguished.
func (c *checker) checkNames() {
	seen := map[string]Path{}
	for i, a := range c.Agents {
		at := Path("agents").Index(i).Key("name")
		if first, twice := seen[a.Name]; twice && a.Name != "" {
			c.clash(first, at, yaml.Quote(a.Name), "a name of its own")
		} else {
			seen[a.Name] = at
		}
	}
}

// checkBuses finds ports with two owners, and settings that no adapter or servo has.
func (c *checker) checkBuses() {
	seen := map[string]Path{}
	for _, name := range inOrder(c, Path("buses"), c.Buses) {
		b, at := c.Buses[name], Path("buses").Key(name)
		if b.Port != "" {
			port := filepath.Clean(c.Resolve(b.Port))
			if first, twice := seen[port]; twice {
				c.clash(first, at.Key("port"), yaml.Quote(port), "a port of its own, or one bus for the joints of both")
			} else {
				seen[port] = at.Key("port")
			}
		}
		// A user who sets a rate that has no meaning on such a bus expects an effect.
		if line := b.Rated(); line && b.GivenFrequency != nil {
			c.add(at.Key("frequency"), fmt.Sprint(b.Frequency), "it only of type i2c or spi",
				"baud is the rate of a line")
		} else if !line && b.GivenBaud != nil {
			c.add(at.Key("baud"), fmt.Sprint(b.Baud), "no baud of type "+b.Type, "")
		}
		if b.SerialBackend == "tarm" && b.Baud > 115200 {
			c.add(at.Key("baud"), fmt.Sprint(b.Baud), "115200 or less with serial_backend tarm",
				"use serial_backend bugst")
		}
		if b.Latency%time.Millisecond != 0 {
			c.add(at.Key("latency"), b.Latency.String(), "whole milliseconds", "")
		}
		if b.ReturnDelay%(2*time.Microsecond) != 0 {
			c.add(at.Key("return_delay"), b.ReturnDelay.String(), "steps of 2us", "")
		}
	}
}

// checkRobot checks the bodies of r's parts against the devices that it names.
func (c *checker) checkRobot(r Placed) {
	// The fault is reported at the word that makes the robot real: its body, or the part.
	body, hardware := r.Path.Key("body"), r.Path.Key("hardware")
	if r.Has(Real) && c.Clock.Mode == Lockstep {
		at := body
		for _, part := range names(r.Parts) {
			if r.Body != Real && r.Parts[part] == Real {
				at = r.Path.Key("parts").Key(part)
			}
		}
		c.add(at, "real", "sim or emulated in lockstep: a real robot cannot wait", "set clock.mode: realtime")
	}
	if r.Hardware == nil {
		if r.Body != Sim {
			fix := ""
			if option := c.option(body); option != "" {
				fix = option + " asks for them"
			}
			c.add(hardware, "nothing", fmt.Sprintf("the devices of a body that is %s", r.Body), fix)
		}
		return
	}
	joints, sensors := r.Hardware.Joints, r.Hardware.Sensors
	known := slices.Concat(names(joints), names(sensors), names(r.Hardware.Cameras), names(r.Hardware.Monitors))
	if b := r.Hardware.Base; b != nil {
		known = append(known, BasePart)
		c.checkBus(hardware.Key("base"), b.Bus, r.BodyOf(BasePart))
	}
	at := hardware.Key("joints")
	for _, part := range inOrder(c, r.Path.Key("parts"), r.Parts) {
		if !slices.Contains(known, part) && r.Parts[part] != Sim && !c.Bad(at.Key(part)) &&
			!c.Bad(hardware.Key("sensors").Key(part)) {
			fix := yaml.Meant(part, known)
			if fix == "" && len(known) > 0 {
				fix = "it has " + yaml.Words(known)
			}
			want := fmt.Sprintf("sim, or its device under %s", hardware)
			if r.Hardware.Base != nil {
				want = fmt.Sprintf("sim, its device under %s, or base instead, whose body its sonars, bumpers, "+
					"odometry and battery have", hardware)
			}
			c.add(r.Path.Key("parts").Key(part), string(r.Parts[part]), want, fix)
		}
	}
	for _, name := range inOrder(c, at, joints) {
		j := joints[name]
		c.checkJoint(at.Key(name), &j)
		c.checkBus(at.Key(name), j.Bus, r.BodyOf(name))
		if j.OutputEnable != nil {
			c.checkBus(at.Key(name).Key("output_enable"), j.OutputEnable.Bus, r.BodyOf(name))
		}
	}
	at = hardware.Key("sensors")
	for _, name := range inOrder(c, at, sensors) {
		c.checkBus(at.Key(name), sensors[name].Bus, r.BodyOf(name))
	}
	at = hardware.Key("cameras")
	for _, name := range inOrder(c, at, r.Hardware.Cameras) {
		if r.Hardware.Cameras[name].Port == "" && r.BodyOf(name) == Real && c.good(at.Key(name)) {
			c.add(at.Key(name).Key("port"), "nothing", fmt.Sprintf("a device, for %s is real", at.Key(name)),
				"ls /dev/v4l/by-id lists them")
		}
	}
	at = hardware.Key("monitors")
	for _, name := range inOrder(c, at, r.Hardware.Monitors) {
		c.checkBus(at.Key(name), r.Hardware.Monitors[name].Bus, r.BodyOf(name))
	}
	if stop := r.Hardware.Estop; stop != nil {
		c.checkBus(hardware.Key("estop"), stop.Bus, r.MostReal())
	}
	at = hardware.Key("lights")
	for _, name := range inOrder(c, at, r.Hardware.Lights) {
		c.checkBus(at.Key(name), r.Hardware.Lights[name].Bus, r.MostReal())
	}
}

// checkBus checks the bus of the device at path.
func (c *checker) checkBus(at Path, name string, body BodyKind) {
	// A bus with a fault is not unknown; and only a real device needs a port of the bus.
	bus, there := c.Buses[name]
	switch port := Path("buses").Key(name).Key("port"); {
	case !c.good(at.Key("bus")) || name == "":
	case !there && !c.Bad("buses") && !c.Bad(Path("buses").Key(name)):
		known := "a bus under buses"
		if len(c.Buses) > 0 {
			known = yaml.Words(names(c.Buses))
		}
		c.add(at.Key("bus"), yaml.Quote(name), known, yaml.Meant(name, names(c.Buses)))
	case there && bus.Port == "" && body == Real:
		c.add(port, "nothing", fmt.Sprintf("a port, for %s is real", at), "halyard ports lists them")
	}
}

// checkJoint finds keys of a servo at a channel of pulses, and the other way round.
func (c *checker) checkJoint(at Path, j *Joint) {
	type key struct {
		name  string
		given bool
	}
	if j.Device == "" {
		for _, k := range []key{{"bus", j.Bus == ""}, {"model", j.Model == ""}} {
			if k.given && c.good(at.Key(k.name)) {
				c.add(at.Key(k.name), `""`, "the servo's, or device: the board that makes its pulses", "")
			}
		}
		for _, k := range []key{{"address", j.Address != nil}, {"channel", j.Channel != nil},
			{"frequency", j.Frequency != nil},
			{"oscillator", j.Oscillator != nil}, {"crc", j.CRC}, {"output_enable", j.OutputEnable != nil}} {
			if k.given {
				c.add(at.Key(k.name), k.name, "it only with device, the board of the output",
					"a servo has bus, id and model")
			}
		}
		return
	}
	for _, k := range []key{{"id", c.good(at.Key("id"))}, {"model", j.Model != ""},
		{"registers", len(j.Registers) > 0}} {
		if k.given {
			c.add(at.Key(k.name), k.name, "no such key with device",
				"a channel of pulses has device, address and channel")
		}
	}
	if t := j.GroundTruth; t != nil && (t.Zero != nil || t.Gear != nil || t.Backlash != 0) {
		c.add(at.Key("ground_truth"), "zero, gear or backlash", "only direction with device", "")
	}
}

// checkIDs finds servos of all robots with the same id on one bus, whose answers would collide. Classes count as well,
// since a spawned robot shares the buses of the others.
func (c *checker) checkIDs() {
	type address struct {
		bus string
		id  int
	}
	seen := map[address]Path{}
	for _, r := range c.Robots() {
		joints := r.Path.Key("hardware").Key("joints")
		for _, name := range inOrder(c, joints, r.Devices().Joints) {
			j, at := r.Hardware.Joints[name], joints.Key(name)
			if j.Device != "" || !c.good(at.Key("bus")) || !c.good(at.Key("id")) {
				continue
			}
			if first, twice := seen[address{j.Bus, j.ID}]; twice {
				c.clash(first, at.Key("id"), fmt.Sprint(j.ID), fmt.Sprintf("an id of its own on bus %q", j.Bus))
			} else {
				seen[address{j.Bus, j.ID}] = at.Key("id")
			}
		}
	}
}

// checkServers finds servers without a robot, and notes those that the network reaches.
func (c *checker) checkServers() {
	agents := make([]string, 0, len(c.Agents))
	for _, a := range c.Agents {
		agents = append(agents, a.Name)
	}
	c.checkPolicies(agents)
	c.checkTeleop(agents)
	seen := map[string]Path{}
	for i, s := range c.Servers {
		at := Path("servers").Index(i)
		switch {
		case s.Agent != "" && !slices.Contains(agents, s.Agent) && !c.Bad("agents"):
			c.add(at.Key("agent"), yaml.Quote(s.Agent), "the name of an agent", yaml.Meant(s.Agent, agents))
		case s.Agent == "" && servesOne(s.Protocol) && len(agents) > 1:
			c.add(at.Key("agent"), "nothing", yaml.Words(agents), s.Protocol+" serves one robot")
		}
		switch {
		case s.Dialect == "later" && okon(s.Protocol):
			c.add(at.Key("dialect"), yaml.Quote(s.Dialect), "document or original, of okon", "")
		case (s.Dialect == "udk" || s.Dialect == "auto") && s.Protocol != "gamebots":
			c.add(at.Key("dialect"), yaml.Quote(s.Dialect), "it only of gamebots", "")
		case s.Dialect == "original" && !okon(s.Protocol):
			c.add(at.Key("dialect"), yaml.Quote(s.Dialect), "document or later, of "+s.Protocol, "")
		case s.Teleport && s.Protocol != "okon":
			c.add(at.Key("teleport"), "true", "it only of okon", "")
		}
		listen := at.Key("listen")
		if !c.good(listen) {
			continue
		}
		switch local := isLoopback(s.Listen); {
		case s.Protocol != "ros2":
		case local && s.Range == "subnet":
			c.add(at.Key("range"), "subnet", "localhost, or listen at an address of the network", "")
		case !local && s.Range == "localhost":
			c.add(listen, yaml.Quote(s.Listen), "127.0.0.1:0 with range localhost", "")
		case local && len(s.Peers) > 0:
			c.add(at.Key("peers"), yaml.Quote(s.Peers[0]), "none with range localhost", "")
		}
		// Two protocols may share a number, one over UDP and one over TCP; the catalog has the transport of each.
		if first, twice := seen[s.Protocol+"="+s.Listen]; twice && !anyPort(s.Listen) {
			c.clash(first, listen, yaml.Quote(s.Listen), "an address of its own")
		}
		seen[s.Protocol+"="+s.Listen] = listen
		if !isLoopback(s.Listen) {
			c.Notes.Add(c.Config.Fault(listen, yaml.Quote(s.Listen),
				"127.0.0.1 unless the network may command the robot", ""))
		}
	}
}

// inOrder lists the keys of m, which is at path, by their place, so that faults are in the order of the file.
func inOrder[T any](c *checker, path Path, m map[string]T) []string {
	keys := names(m)
	slices.SortStableFunc(keys, func(a, b string) int {
		p, q := c.Place(path.Key(a)), c.Place(path.Key(b))
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
	})
	return keys
}
