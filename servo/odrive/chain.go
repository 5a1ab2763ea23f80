package odrive

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// ChainConfig describes all axes of one line. Zero values give the defaults.
type ChainConfig struct {
	Name    string // the bus in errors
	Axes    []AxisConfig
	Line    servo.Line    // owned by the chain from its making on
	Reopen  servo.Opener  // how to get the line back after it was lost; nil = never
	Period  time.Duration // of the cycle; bounds what asking for lost axes may cost in one. 0 = no bound
	Latency time.Duration // what the adapter may hold an answer back
}

// AxisConfig is one axis of a chain.
type AxisConfig struct {
	ID       byte // serial: 0 or 1; CAN: the node
	Model    *Model
	Joint    string // named in errors; may be empty
	Settings []servo.Setting
}

// SerialChain drives the axes of one controller over a serial line. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one command of about 21 bytes, one question of 7 and an answer of 25 for each axis: 4.6 ms at 115200 Bd,
// where USB takes no time to speak of. Current, voltage and temperature are read in turn, with state and errors: they
// are some cycles old. The watchdog is set before torque goes on.
type SerialChain struct {
	*servo.GenericChain
	b *serialProtocol
}

// CANChain drives the axes of one CAN bus, each a node. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one goal to each axis and two remote frames, and two answers from each. The state of an axis comes with its
// heartbeat, every 100 ms, and so does the proof that torque is on or off. The watchdog is set before torque goes on
// where the endpoints are known by which it can be, and is else what odrivetool has set: any command feeds it.
type CANChain struct {
	*servo.GenericChain
	b *canProtocol
}

var (
	_ servo.Chain = (*SerialChain)(nil)
	_ servo.Chain = (*CANChain)(nil)
)

// NewSerialChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewSerialChain(cfg ChainConfig) *SerialChain {
	b := &serialProtocol{cfg: &cfg, devices: devices(&cfg)}
	r := chainConfig(&cfg, false)
	r.LastID, r.Bits, r.Out, r.In = 1, bitsPerByte, 1024, 8*maxAnswer
	c := &SerialChain{b: b}
	c.GenericChain = servo.NewGenericChain(r, b)
	b.chain = c.GenericChain
	return c
}

// NewCANChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewCANChain(cfg ChainConfig) *CANChain {
	b := &canProtocol{cfg: &cfg, devices: devices(&cfg)}
	r := chainConfig(&cfg, true)
	n := max(1, len(cfg.Axes))
	r.LastID, r.Bits, r.Out, r.In = LastNode, frameBits, 8*n*servo.CANSize, (64+8*n)*servo.CANSize
	c := &CANChain{b: b}
	c.GenericChain = servo.NewGenericChain(r, b)
	b.chain = c.GenericChain
	return c
}

func devices(cfg *ChainConfig) []device {
	all := make([]device, len(cfg.Axes))
	for i := range all {
		all[i] = device{cfg: &cfg.Axes[i], m: cfg.Axes[i].Model, dialect: V06, limit: math.NaN(), beatAt: -1}
	}
	return all
}

func chainConfig(cfg *ChainConfig, grouped bool) servo.GenericChainConfig {
	r := servo.GenericChainConfig{Bus: cfg.Name, Line: cfg.Line, Reopen: cfg.Reopen, Period: cfg.Period, Latency: cfg.Latency}
	for i := range cfg.Axes {
		a := &cfg.Axes[i]
		r.Devices = append(r.Devices, servo.DeviceConfig{ID: int(a.ID), Joint: a.Joint, Grouped: grouped,
			Faults: servo.Faults(a.Model != nil, a.Settings, a.check)})
	}
	return r
}

// check says why x is no setting of the axis.
func (a *AxisConfig) check(x servo.Setting) error {
	return a.Model.Register(x.Register).CheckSetting(a.Model.Name, x)
}

// Units returns what axis i's values mean.
func (c *SerialChain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// Units returns what axis i's values mean.
func (c *CANChain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// Halt is GenericChain.Halt, which waits here for the heartbeats that are its proof: up to 0.15 s.
func (c *CANChain) Halt() []error {
	c.b.awaitBeats = true
	defer func() { c.b.awaitBeats = false }()
	return c.GenericChain.Halt()
}

// WireTime is the time of a usual cycle's bytes.
func (c *SerialChain) WireTime(baud int) time.Duration {
	return time.Duration(len(c.b.devices)) * serialWire(baud)
}

// WireTime is the most that a usual cycle's frames take: a goal, two questions and two answers each.
func (c *CANChain) WireTime(bitrate int) time.Duration {
	return servo.WireTime(3*servo.CANSize*len(c.b.devices), frameBits, bitrate) +
		servo.WireTime(2*len(c.b.devices), remoteBits, bitrate)
}
