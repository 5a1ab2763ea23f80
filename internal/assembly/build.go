package assembly

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// System is a rig with its lines, worlds and devices.
type System struct {
	Rig    *hal.Rig
	Plan   *plan.Plan
	Log    *slog.Logger
	Scene  *sim.Scene
	Lines  []line
	Bodies []hal.Body  // one an agent
	Worlds []hal.World // in the order in which time passes in them

	Devices
	outfits       map[string]*ClassDevices // of classes that are real
	before, After spawnedWorlds            // the worlds of spawned robots, in addition to the scene
	sessions      []*hal.Session           // that watch its devices
	Eyes          eyes

	shared     []shared   // by servers
	spawning   sync.Mutex // guards the robots of all spawners: one of them binds a real robot
	values     *modelValues
	collisions *collisions
}

// line is one open bus: the chain of its servos, and its emulation where it has one.
type line struct {
	Name  string
	kind  configs.BodyKind
	Chain servo.LineChain
	Emu   *emulator.Bus // nil where it is real
	drill *rehearsed    // nil where it is emulated
}

// Build opens all devices, worlds and agents of p and connects them. On an error nothing stays open.
func Build(p *plan.Plan, log *slog.Logger) (sys *System, err error) {
	c := p.Config
	mode := hal.Lockstep
	if c.Clock.Mode == configs.Realtime && !p.Replay {
		mode = hal.Realtime
	}
	rig, err := hal.New(hal.Config{Name: c.Name, Mode: mode, Period: c.Clock.Period, Seed: c.World.Seed, Log: log,
		MeasureFirst: c.Clock.Timing == "real",
		Clock:        p.Clock, Replay: p.Replay})
	if err != nil {
		return nil, err
	}
	b := newBuilder(&System{Rig: rig, Plan: p, Log: log, outfits: map[string]*ClassDevices{}},
		make([]*sim.Body, len(p.Agents))...)
	if b.Scene, err = plan.NewScene(p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	for i := range p.Agents {
		if _, err = p.Agents[i].Stand(b.Scene); err != nil {
			return nil, err
		}
		if b.Robots[i] = b.Scene.Body(p.Agents[i].Config.Name); b.Robots[i] != nil &&
			p.Agents[i].Config.Has(configs.Real) {
			if err = b.Robots[i].SetTwin(p.Agents[i].Config.Twin); err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(b.openDevices(), b.openLines(), b.openOutfits()); err != nil {
		return nil, err
	}
	for _, bus := range b.Buses() {
		if err := b.Rig.AddBus(bus); err != nil {
			return nil, err
		}
	}
	before, after := b.lived()
	for _, w := range slices.Concat(before, []hal.World{&b.before, b.Scene}, after, []hal.World{&b.After}) {
		b.addWorld(w)
	}
	for i := range p.Agents {
		if err := b.addAgent(i); err != nil {
			return nil, err
		}
	}
	if err := b.openCameras(); err != nil {
		return nil, err
	}
	b.observeModel()
	b.watchAlarms()
	b.watchDrift()
	b.watchLines()
	b.watchGantries()
	return b.System, nil
}

// addWorld lets time pass in w with the rig, after the worlds before it.
func (b *Builder) addWorld(w hal.World) {
	if b.Worlds = append(b.Worlds, w); !b.apart {
		b.Rig.AddWorld(w)
	}
}

// Builder is the state of Build.
type Builder struct {
	*System
	Robots    []*sim.Body // one an agent, also where its joints are all real; nil of a vehicle
	connected map[plan.JointRef]drivers.Joint
	met       []calibration.Met // servos of the open lines
	apart     bool              // its worlds are its owner's to let time pass in
}

// newBuilder returns a builder of sys; robots are its agents' bodies in the scene.
func newBuilder(sys *System, robots ...*sim.Body) *Builder {
	sys.Devices = newDevices()
	return &Builder{System: sys, Robots: robots, connected: map[plan.JointRef]drivers.Joint{}}
}

// forgetful is a driver that can begin as after power-on.
type forgetful interface{ ForgetReadings() }

// restarted is a bus whose devices are emulated: a reset of their world is a power-on. It is a hal.Forgetter.
type restarted struct {
	hal.Bus
	driver  forgetful
	devices interface{ Restart() }
}

// CutTorque and ClearAlarms are the driver's: the wrapping must hide neither from a stop or a reset.
func (b restarted) CutTorque() error {
	if c, ok := b.Bus.(hal.TorqueCutter); ok {
		return c.CutTorque()
	}
	return nil
}

// ClearAlarms implements what hal asks of a bus whose devices latch alarms.
func (b restarted) ClearAlarms() []error {
	if c, ok := b.Bus.(interface{ ClearAlarms() []error }); ok {
		return c.ClearAlarms()
	}
	return nil
}

func (b restarted) Forget() {
	b.devices.Restart()
	b.driver.ForgetReadings()
}

// Buses are all open lines and devices that the rig sends to and receives from, those of real classes too.
func (s *System) Buses() (list []hal.Bus) {
	for _, r := range s.Runners {
		if f, ok := r.(forgetful); ok && s.Emulation != nil {
			list = append(list, restarted{r, f, s.Emulation})
			continue
		}
		list = append(list, r)
	}
	for _, l := range s.Lines {
		if f, ok := l.Chain.(forgetful); ok && l.Emu != nil {
			list = append(list, restarted{l.Chain, f, l.Emu})
			continue
		}
		list = append(list, l.Chain)
	}
	for _, name := range report.SortedKeys(s.outfits) {
		list = append(list, s.outfits[name].Buses()...)
	}
	return list
}

// lived returns the worlds of emulated devices: actuators, before the scene, and sensors, after it.
func (b *Builder) lived() (before, after []hal.World) {
	if b.Emulation != nil {
		before, after = append(before, motors{b.Emulation}), append(after, chips{b.Emulation})
	}
	for _, l := range b.Lines {
		if l.Emu != nil {
			after = append(after, l.Emu)
		}
	}
	return before, after
}

// openOutfits opens the devices of the real classes, before any client spawns one: a missing device is reported now.
func (b *Builder) openOutfits() error {
	var faults []error
	for _, name := range report.SortedKeys(b.Plan.Classes) {
		if p := b.Plan.Classes[name]; p.Config.Has(configs.Real) {
			if b.Plan.Replay {
				return &hal.Error{Kind: hal.Unsafe, Op: "replay class " + name, Err: errReplayReal}
			}
			b.outfits[name] = b.newOutfit(p, nil)
			o := b.outfits[name]
			if err := o.Open(); err != nil {
				faults = append(faults, err)
				continue
			}
			faults = append(faults, o.openCameras())
			o.watchAlarms()
			b.After.join(o.Worlds)
		}
	}
	return errors.Join(faults...)
}

var realities = map[configs.BodyKind]hal.BodyKind{configs.Sim: hal.Simulated, configs.Emulated: hal.Emulated,
	configs.Real: hal.Real}

// logTime is how long the end of a system waits for a log that is not read.
const logTime = time.Second

// Close closes every line and device. The rig has stopped its bodies before.
func (s *System) Close() error {
	defer s.Rig.FlushLog(logTime)
	s.unwatch()
	var faults []error
	for _, c := range s.shared {
		faults = append(faults, c.closer.Close())
	}
	faults = append(faults, s.Eyes.Close())
	s.Scene.Close() // after the cameras, which may render it
	faults = append(faults, s.Devices.Close(s.Log))
	for _, o := range s.outfits {
		faults = append(faults, o.Close(func(f func()) { f() })) // the rig has ended
	}
	return errors.Join(append(faults, s.closeLines())...)
}

func (s *System) closeLines() (fault error) {
	for _, l := range s.Lines {
		fault = errors.Join(fault, l.Chain.Close())
	}
	return fault
}

// watch calls o in every cycle until unwatch.
func (s *System) watch(name string, o hal.Observer) {
	s.sessions = append(s.sessions, s.Rig.NewSession(name, o))
}

func (s *System) unwatch() {
	for _, session := range s.sessions {
		session.Close()
	}
}

// shared is an object that several servers of a system use.
type shared struct {
	key    string
	closer io.Closer
}

// Share returns the object opened under key, and opens it at the first call. The system closes it after its servers.
// Servers call it while they open, one after the other.
func (s *System) Share(key string, open func() (io.Closer, error)) (io.Closer, error) {
	for _, have := range s.shared {
		if have.key == key {
			return have.closer, nil
		}
	}
	c, err := open()
	if err == nil {
		s.shared = append(s.shared, shared{key, c})
	}
	return c, err
}

func (s *System) HostRig() *hal.Rig { return s.Rig }

// MachineRoot contains /sys, /proc and /dev of this machine; tests use a folder instead.
const MachineRoot = "/"
