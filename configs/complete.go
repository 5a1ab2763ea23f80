package configs

import (
	"slices"
	"time"
)

// The defaults of a bus, and of an emulated I2C bus.
const (
	usualBaud  = 1000000
	usualHertz = 400000
)

// complete computes the defaults that depend on other keys. It also runs on configs with faults, since checking
// continues after them; every key then has its default or a value within its rule.
func (c *Config) complete() {
	// A real robot cannot wait for a controller. A config without a mode gets the one that its bodies allow, so that
	// one word turns a simulated rig into a real one. An explicit mode is checked (checkRobot).
	if c.Clock.Mode == "" {
		c.Clock.Mode = Lockstep
		real := func(r Placed) bool { return r.Has(Real) }
		if len(c.Teleop) > 0 || slices.ContainsFunc(c.Robots(), real) { // a person moves in real time
			c.Clock.Mode = Realtime
		}
	}
	if c.Clock.Timing == "" {
		c.Clock.Timing = "ideal"
		if c.Clock.Mode == Realtime && slices.ContainsFunc(c.Robots(), func(r Placed) bool { return r.Has(Emulated) }) {
			c.Clock.Timing = "real"
		}
	}
	c.World.Substep = Or(c.World.GivenSubstep, substep(c.Clock.Period))
	for name, bus := range c.Buses {
		baud, frequency := usualBaud, usualHertz
		switch bus.Type {
		case "serial": // the rate of a BNO055, and of a Maestro on a UART
			baud = 115200
		case "spi":
			frequency = 1_000_000
		}
		bus.Baud, bus.Frequency = Or(bus.GivenBaud, baud), Or(bus.GivenFrequency, frequency)
		c.Buses[name] = bus
	}
	for i := range c.Agents {
		c.completeGuard(&c.Agents[i].Robot, Path("agents").Index(i))
	}
	for name, class := range c.Classes {
		c.completeGuard(&class, Path("classes").Key(name))
		c.Classes[name] = class
	}
	c.completePolicies()
	c.completeTeleop()
	for i := range c.Servers {
		s, at := &c.Servers[i], Path("servers").Index(i)
		// In lockstep a silent client may be thinking, and time waits for it; in realtime it keeps others out.
		// Simloid's commands persist: there a client that is connected is alive.
		if !c.given(at.Key("client_timeout")) && c.Clock.Mode == Realtime && !persists(s.Protocol) {
			s.ClientTimeout = 2 * time.Second
		}
		if !c.given(at.Key("ack_timeout")) {
			s.AckTimeout = 500 * time.Millisecond
			if s.Protocol == "simloid" { // its clients acknowledge when they have read the traits, and people may type
				s.AckTimeout = 30 * time.Second
			}
		}
		clients := 16
		if okon(s.Protocol) { // many of its clients only watch
			clients = 256
		}
		s.MaxClients = Or(s.GivenMaxClients, clients)
		if s.Range == "" {
			if s.Range = "subnet"; isLoopback(s.Listen) {
				s.Range = "localhost"
			}
		}
		if s.Agent == "" && servesOne(s.Protocol) && len(c.Agents) == 1 {
			s.Agent = c.Agents[0].Name
		}
	}
}

// substep is the longest part of period that is a whole number of nanoseconds and no longer than 1 ms. Periods are
// whole microseconds, so that it is never below half of that; others are a fault, and stay whole here.
func substep(period time.Duration) time.Duration {
	n := (period + time.Millisecond - 1) / time.Millisecond
	for period%time.Microsecond == 0 && period%n != 0 {
		n++
	}
	return period / n
}

// completeGuard sets the command deadline: none if a lost controller can do no damage.
func (c *Config) completeGuard(r *Robot, at Path) {
	guard := at.Key("guard")
	if !c.given(guard.Key("command_timeout")) && (r.Has(Real) || r.Has(Emulated)) {
		if r.Guard.CommandTimeout = 500 * time.Millisecond; c.servedPersistently(r) {
			r.Guard.CommandTimeout = 2 * time.Second
		}
	}
	if !c.given(guard.Key("arming")) {
		if r.Guard.Arming = "client"; r.Has(Real) {
			r.Guard.Arming = "operator"
		}
	}
	if !c.given(guard.Key("armed")) {
		r.Guard.Armed = r.Guard.Arming == "client"
	}
}

// servedPersistently reports whether r is commanded by USARSim or Simloid: it is a class, or an agent that one of them
// serves.
func (c *Config) servedPersistently(r *Robot) bool {
	for i := range c.Agents {
		if &c.Agents[i].Robot != r {
			continue
		}
		return slices.ContainsFunc(c.Servers, func(s Server) bool {
			return s.Protocol == "simloid" && (s.Agent == c.Agents[i].Name || s.Agent == "" && len(c.Agents) == 1)
		})
	}
	return true
}

// given reports whether the document has a valid value at path.
func (c *Config) given(path Path) bool {
	return c.document != nil && c.document.Has(path) && !c.document.Bad(path)
}

// persists reports whether the protocol's commands persist, so that a silent client may still be alive.
func persists(protocol string) bool {
	return protocol == "simloid" || protocol == "gamebots" || protocol == "imageserver" || protocol == "player" ||
		protocol == "nml" || okon(protocol)
}

// servesOne reports whether the protocol cannot select a robot.
func servesOne(protocol string) bool {
	return protocol == "odcp" || protocol == "simloid" || protocol == "player" || protocol == "nml" || okon(protocol) ||
		bridges(protocol)
}

// bridges reports whether protocol is one of ROS tools and viewers. Its commands have a deadline of their own.
func bridges(protocol string) bool {
	return protocol == "rosbridge" || protocol == "foxglove" || protocol == "ros2"
}

// okon reports whether the protocol is one of Okon's two channels.
func okon(protocol string) bool { return protocol == "okon" || protocol == "okon-video" }
