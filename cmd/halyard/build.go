package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// system is a rig and what it stands on.
type system struct {
	rig    *hal.Rig
	plan   *plan
	log    *slog.Logger
	scene  *sim.Scene
	lines  []line
	bodies []hal.Body  // one an agent
	worlds []hal.World // in the order in which time passes in them

	devices
	outfits       map[string]*classDevices // of classes that are real
	before, after spawnedWorlds            // the worlds of spawned robots, beside the scene
	alarms        *alarms
	helms         []*okonShared
	eyes          eyes

	values     *modelValues
	collisions *collisions
}

// line is one open bus: the chain of its servos, and its emulation where it has one.
type line struct {
	name  string
	kind  configs.BodyKind
	chain chain
	emu   *emulator.Bus // nil where it is real
}

// build opens all that p names and puts it together. On an error nothing stays open.
func build(p *plan, log *slog.Logger) (sys *system, err error) {
	c := p.config
	mode := hal.Lockstep
	if c.Clock.Mode == configs.Realtime {
		mode = hal.Realtime
	}
	rig, err := hal.New(hal.Config{Name: c.Name, Mode: mode, Period: c.Clock.Period, Seed: c.World.Seed, Log: log, Clock: p.clock})
	if err != nil {
		return nil, err
	}
	b := newBuilder(&system{rig: rig, plan: p, log: log, outfits: map[string]*classDevices{}}, make([]*sim.Body, len(p.agents))...)
	if b.scene, err = newScene(p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	for i := range p.agents {
		if _, err = p.agents[i].stand(b.scene); err != nil {
			return nil, err
		}
		b.robots[i] = b.scene.Body(p.agents[i].config.Name)
	}
	if err := errors.Join(b.openDevices(), b.openLines(), b.openOutfits()); err != nil {
		return nil, err
	}
	for _, bus := range b.buses() {
		if err := b.rig.AddBus(bus); err != nil {
			return nil, err
		}
	}
	before, after := b.lived()
	for _, w := range slices.Concat(before, []hal.World{&b.before, b.scene}, after, []hal.World{&b.after}) {
		b.addWorld(w)
	}
	for i := range p.agents {
		if err := b.addAgent(i); err != nil {
			return nil, err
		}
	}
	if err := b.openCameras(); err != nil {
		return nil, err
	}
	b.observeModel()
	b.watchAlarms()
	return b.system, nil
}

func newScene(p *plan) (*sim.Scene, error) {
	w := &p.config.World
	s := sim.NewScene(sim.SceneConfig{Seed: w.Seed, Substep: p.substep(), Scene: p.scene})
	return s, s.SetGravity([3]float64{0, 0, -w.Gravity})
}

// substep is the step of the physics: the config's, or, where that leaves it to us and all robots are Simloid's, a whole
// cycle, as the original's, for which their motors, joints and contacts are made. Cycles above 10 ms are divided.
func (p *plan) substep() time.Duration {
	w, period := &p.config.World, p.config.Clock.Period
	if !w.OwnSubstep || len(p.classes) > 0 || slices.ContainsFunc(p.agents, func(a agentPlan) bool { return a.robot.Simloid == hal.None }) {
		return w.Substep
	}
	n := (period + 10*time.Millisecond - 1) / (10 * time.Millisecond)
	for n < period/time.Microsecond && period%(n*time.Microsecond) != 0 {
		n++
	}
	return period / n
}

// addWorld lets time pass in w with the rig, after the worlds before it.
func (b *builder) addWorld(w hal.World) {
	if b.worlds = append(b.worlds, w); !b.apart {
		b.rig.AddWorld(w)
	}
}

// poseOf turns roll, pitch and yaw into a unit quaternion (w, x, y, z).
func poseOf(p configs.Pose) hal.Pose {
	sr, cr := math.Sincos(p.Rotation[0] / 2)
	sp, cp := math.Sincos(p.Rotation[1] / 2)
	sy, cy := math.Sincos(p.Rotation[2] / 2)
	return hal.Pose{Position: p.Position, Rotation: [4]float64{
		cr*cp*cy + sr*sp*sy, sr*cp*cy - cr*sp*sy, cr*sp*cy + sr*cp*sy, cr*cp*sy - sr*sp*cy}}
}

// builder is what build works on.
type builder struct {
	*system
	plan   *plan
	robots []*sim.Body // one an agent, also where its joints are all real; nil of a vehicle
	hung   map[jointRef]drivers.Joint
	apart  bool // its worlds are its owner's to let time pass in
}

// newBuilder works on sys, whose agents stand in the scene as robots.
func newBuilder(sys *system, robots ...*sim.Body) *builder {
	return &builder{system: sys, plan: sys.plan, robots: robots, hung: map[jointRef]drivers.Joint{}}
}

// buses are all open lines and devices that the rig sends to and receives from, those of real classes too.
func (b *builder) buses() (list []hal.Bus) {
	for _, r := range b.runners {
		list = append(list, r)
	}
	for _, l := range b.lines {
		list = append(list, l.chain)
	}
	for _, name := range sortedKeys(b.outfits) {
		list = append(list, b.outfits[name].buses()...)
	}
	return list
}

// lived are the worlds of what is emulated: what moves the robots, before the scene, and what feels them, after it.
func (b *builder) lived() (before, after []hal.World) {
	if b.emulation != nil {
		before, after = append(before, motors{b.emulation}), append(after, chips{b.emulation})
	}
	for _, l := range b.lines {
		if l.emu != nil {
			after = append(after, l.emu)
		}
	}
	return before, after
}

// openOutfits opens the devices of the classes that are real, whether or not anybody comes for them: a device that is missing
// is told now.
func (b *builder) openOutfits() error {
	var faults []error
	for _, name := range sortedKeys(b.plan.classes) {
		if p := b.plan.classes[name]; p.config.Has(configs.Real) {
			b.outfits[name] = b.newOutfit(p, nil)
			o := b.outfits[name]
			if err := o.open(); err != nil {
				faults = append(faults, err)
				continue
			}
			faults = append(faults, o.openCameras())
			o.watchAlarms()
			b.after.join(o.worlds)
		}
	}
	return errors.Join(faults...)
}

var policies = map[string]hal.Policy{"hold": hal.Hold, "limp": hal.TorqueOff, "park": hal.Park}

var realities = map[configs.BodyKind]hal.BodyKind{configs.Sim: hal.Simulated, configs.Emulated: hal.Emulated, configs.Real: hal.Real}

// close gives every line and device back. The rig has stopped its bodies before.
func (s *system) close() error {
	s.alarms.close()
	s.closeHelms()
	faults := []error{s.eyes.close()}
	s.scene.Close() // after the cameras, which may look at it
	faults = append(faults, s.devices.close(s.log))
	for _, o := range s.outfits {
		faults = append(faults, o.close(func(f func()) { f() })) // the rig has ended
	}
	for _, l := range s.lines {
		faults = append(faults, l.chain.Close())
	}
	return errors.Join(faults...)
}

// newServer opens the server that s describes at an address and tells where it listens.
func newServer(sys *system, s *configs.Server, at netip.AddrPort) (server, netip.AddrPort, error) {
	switch s.Protocol {
	case "gamebots":
		return sys.newGamebots(s, at)
	case "imageserver":
		return sys.newImageServer(s, at)
	}
	agent := sys.rig.Agent(s.Agent)
	if agent == nil && s.Protocol != "osp" {
		return nil, netip.AddrPort{}, fmt.Errorf("no agent %q", s.Agent)
	}
	switch s.Protocol {
	case "simloid":
		return sys.newSimloid(s, agent, at)
	case "okon", "okon-video":
		return sys.newOkon(s, agent, at)
	}
	conn, err := protocols.ListenUDP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	switch s.Protocol {
	case "osp":
		srv := osp.NewServer(sys.rig, conn, osp.Options{Physical: s.Outputs == configs.Physical, AckTimeout: s.AckTimeout,
			ClientTimeout: s.ClientTimeout})
		return srv, srv.Address(), nil
	case "odcp":
		srv := odcp.NewServer(sys.rig, agent, conn)
		return srv, srv.Address(), nil
	}
	conn.Close()
	return nil, netip.AddrPort{}, fmt.Errorf("no protocol %q", s.Protocol)
}
