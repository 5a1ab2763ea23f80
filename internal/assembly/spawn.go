package assembly

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
)

// Spawned is a robot that a Spawner made.
type Spawned struct {
	Plan    *plan.AgentPlan
	Body    *sim.Body     // in the scene; nil where no part of it is simulated
	Devices *ClassDevices // nil where all of it is simulated
	twin    *sim.Body     // in the scene, of every robot
}

// spawnedWorlds is the worlds of spawned robots: they are added and removed between cycles, at one place in the order
// of worlds.
type spawnedWorlds struct{ Worlds []hal.World }

// Advance lets dt pass in each.
func (c *spawnedWorlds) Advance(dt time.Duration) (fault error) {
	for _, w := range c.Worlds {
		fault = errors.Join(fault, w.Advance(dt))
	}
	return fault
}

// Deferrable implements hal.Deferrable: the devices of a spawned robot need each cycle in time.
func (c *spawnedWorlds) Deferrable() bool { return len(c.Worlds) == 0 }

func (c *spawnedWorlds) join(worlds []hal.World) { c.Worlds = append(c.Worlds, worlds...) }

func (c *spawnedWorlds) leave(worlds []hal.World) {
	c.Worlds = slices.DeleteFunc(c.Worlds, func(w hal.World) bool { return slices.Contains(worlds, w) })
}

// Spawner adds and removes robots of the config's classes: a hal.Spawner. Sessions call it from goroutines of their
// own; it changes the scene only between cycles.
type Spawner struct {
	sys     *System
	spawned map[string]*Spawned // under the system's spawning
}

// NewSpawner makes the spawner of one server, or of one program.
func (s *System) NewSpawner() *Spawner { return &Spawner{sys: s, spawned: map[string]*Spawned{}} }

func unspawnable(name, format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "spawn " + name, Err: fmt.Errorf(format, args...)}
}

// Spawn makes a robot of a class at a place: a new one in the scene, with its devices where it is emulated, or the real
// one of the class, at the client's place. The error is hal.Invalid where the class is not there or the name is taken,
// and hal.Busy where the real robot is.
func (y *Spawner) Spawn(class, name string, at hal.Pose) (*hal.Agent, error) {
	of, ok := y.sys.Plan.Classes[class]
	if !ok {
		return nil, unspawnable(name, "got class %q, want a class of the config", class)
	}
	y.sys.spawning.Lock()
	defer y.sys.spawning.Unlock()
	if y.sys.Rig.Agent(name) != nil {
		return nil, unspawnable(name, "an agent of this name exists already")
	}
	p := &Spawned{Plan: of.Named(name, at)}
	agent, err := y.put(class, p, at)
	if err != nil {
		return nil, errors.Join(err, y.clear(name, p))
	}
	y.spawned[name] = p
	if agent.Condition().State == hal.Disarmed && !agent.ClientsArm() {
		y.sys.Log.Warn("spawn: the robot is disarmed, and only the operator arms it (try: halyard arm)", "robot", name)
	}
	return agent, nil
}

// put adds the robot of p. After an error, clear removes its partial state.
func (y *Spawner) put(class string, p *Spawned, at hal.Pose) (*hal.Agent, error) {
	sys, c, name := y.sys, p.Plan.Config, p.Plan.Config.Name
	body, reality := hal.Body(nil), hal.Simulated
	if o := sys.outfits[class]; o != nil {
		if o.bound {
			return nil, &hal.Error{Kind: hal.Busy, Op: "spawn " + name,
				Err: fmt.Errorf("the robot of class %s belongs to another client", class)}
		}
		o.bound, p.Devices = true, o
		o.Plan.Agents[0] = *p.Plan
	}
	// The scene first: a robot that the physics refuses must not become an agent. A cycle may run between this and the
	// end.
	var err error
	misplaced := ""
	sys.Rig.BetweenCycles(func() {
		var robot *sim.Body
		if robot, err = sys.Scene.Add(name, p.Plan.Robot, at); err != nil {
			return
		}
		if c.Has(configs.Real) {
			if err = robot.SetTwin(c.Twin); err != nil {
				return
			}
		}
		misplaced = robot.Misplaced()
		if p.twin = robot; !c.Has(configs.Real) || c.Has(configs.Sim) {
			p.Body = robot
		}
		if body = robot; c.Has(configs.Emulated) {
			p.Devices = sys.newOutfit(p.Plan, p.Body)
			err = p.Devices.Open()
		}
	})
	if err != nil {
		return nil, err
	}
	if misplaced != "" {
		sys.Log.Warn("spawn: the robot touches another object", "robot", name, "at", at.Position, "because", misplaced)
	}
	if o := p.Devices; o != nil {
		if o.Robots[0] = p.twin; o.real {
			sys.Rig.BetweenCycles(o.restart)
			sys.Eyes.join(o.Eyes.sights)
		}
		if o.body, reality, err = o.Builder.body(0); err != nil {
			return nil, err
		}
		if body = o.body; !o.real {
			if err := y.attend(o); err != nil {
				return nil, err
			}
		}
	}
	return sys.join(p.Plan, body, p.twin, reality)
}

// attend lets the rig's time pass for an outfit.
func (y *Spawner) attend(o *ClassDevices) error {
	if err := o.openCameras(); err != nil {
		return err
	}
	o.watchAlarms()
	before, after := o.lived()
	o.before, o.after = before, append(after, o.Worlds...)
	y.sys.Eyes.join(o.Eyes.sights)
	y.sys.Rig.BetweenCycles(func() {
		y.sys.before.join(o.before)
		y.sys.After.join(o.after)
	})
	for _, b := range o.Buses() {
		if err := y.sys.Rig.AddBus(b); err != nil {
			return err
		}
	}
	return nil
}

// clear removes all of p but its agent. A real robot's devices stay open for the next client.
func (y *Spawner) clear(name string, p *Spawned) (fault error) {
	o := p.Devices
	if o != nil {
		y.sys.Eyes.leave(o.Eyes.sights)
	}
	switch {
	case o != nil && o.real:
		o.bound = false
	case o != nil:
		for _, b := range o.Buses() {
			y.sys.Rig.RemoveBus(b)
		}
		y.sys.Rig.BetweenCycles(func() {
			y.sys.before.leave(o.before)
			y.sys.After.leave(o.after)
		})
		fault = o.Close(y.sys.Rig.BetweenCycles)
	}
	if p.twin != nil {
		y.sys.Rig.BetweenCycles(func() { fault = errors.Join(fault, y.sys.Scene.Remove(name)) })
	}
	return fault
}

// Remove removes a spawned robot from the rig and the scene. Only its spawner may do so.
func (y *Spawner) Remove(name string) error {
	y.sys.spawning.Lock()
	defer y.sys.spawning.Unlock()
	p := y.spawned[name]
	if p == nil {
		return &hal.Error{Kind: hal.Invalid, Op: "remove " + name, Err: errors.New("got a robot that was not spawned")}
	}
	// In reverse order: the rig must not read a body that the scene no longer has. A base that does not confirm its
	// stop has a watchdog; it is removed all the same, so that a client can spawn it again.
	err := y.sys.Rig.Remove(name)
	if y.sys.Rig.Agent(name) != nil {
		return err
	}
	delete(y.spawned, name)
	return errors.Join(err, y.clear(name, p))
}

// Spawned is the robot called name. The error is hal.Invalid where this spawner has not made it.
func (y *Spawner) Spawned(name string) (Spawned, error) {
	y.sys.spawning.Lock()
	defer y.sys.spawning.Unlock()
	p := y.spawned[name]
	if p == nil {
		return Spawned{}, &hal.Error{Kind: hal.Invalid, Op: "describe " + name,
			Err: errors.New("got a robot that was not spawned")}
	}
	return *p, nil
}
