package bundle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// replayCycles is how many cycles of the rig a replay runs after its opening.
const replayCycles = 20

// Unpack writes the config and its files into the folder dir and reads them there. A config that names files outside of
// dir is refused: they would be this machine's.
func (r *Report) Unpack(dir string) (*configs.Config, error) {
	a := &configs.Archive{Config: r.Config, Files: r.Files, Options: configs.Options{Set: r.Set, Body: r.Body}}
	name := filepath.Base(filepath.FromSlash(r.Source))
	if !plainName(r.Source) || name != r.Source {
		return nil, refused("config: got the name %.80q, want that of a file", r.Source)
	}
	if filepath.Ext(name) == "" {
		name += ".yaml"
	}
	if r.Files[name] != nil {
		return nil, refused("entry %s%s: it is the config's own name", filesFolder, name)
	}
	if err := os.WriteFile(filepath.Join(dir, name), r.Config, 0o600); err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "report replay", Err: err}
	}
	c, err := a.Extract(dir, r.Source)
	if c == nil {
		return nil, err
	}
	if out := c.Outside(); len(out) > 0 {
		return nil, refused("config: got the file %.80q, want files in the report only", out[0])
	}
	return c, err
}

// plan is the plan of the unpacked config; a lack of calibrations is a finding and no error.
func (r *Report) plan(dir string) (*plan.Plan, error) {
	c, err := r.Unpack(dir)
	if c == nil {
		return nil, err
	}
	p, unresolved := plan.Resolve(c, builtin.Catalog())
	if err = errors.Join(err, unresolved); err != nil && !uncalibrated(err, unresolved) {
		return nil, err
	}
	return p, nil
}

// uncalibrated reports whether missing calibrations are all that is wrong.
func uncalibrated(err, unresolved error) bool {
	return doctor.UncalibratedAlone(err) && (unresolved == nil || doctor.UncalibratedAlone(unresolved))
}

// Doctor examines the robot of the report once more, in the folder dir.
func (r *Report) Doctor(ctx context.Context, dir string) (*doctor.Examination, Counts, error) {
	p, err := r.plan(dir)
	if err != nil {
		return nil, Counts{}, err
	}
	player := NewPlayer(p, r)
	x, err := doctor.NewExamination(p, r.Body, nil)
	if err != nil {
		return nil, Counts{}, err
	}
	x.Recorded = &doctor.Recorded{Findings: r.Findings, Buses: r.Buses}
	err = x.Run(ctx)
	m := &masker{counts: map[string]int{}}
	if whole, err := filepath.Abs(dir); err == nil {
		m.plain = [][2]string{{whole + string(filepath.Separator), ""}}
	}
	for i := range x.Found {
		x.Found[i].Found, x.Found[i].Fix = m.text(x.Found[i].Found), m.text(x.Found[i].Fix)
	}
	return x, player.Counts, err
}

// Serve opens the robot of the report as serve does, in the folder dir, and runs some cycles without a command. What
// the drivers ask beyond the traffic is answered by emulated servos with the registers of the report. The error is what
// serve would end with.
func (r *Report) Serve(dir string, log *slog.Logger) (c Counts, err error) {
	p, err := r.served(dir)
	if err != nil {
		return c, err
	}
	player := NewPlayer(p, r)
	if player.instead, err = r.stand(p); err != nil {
		return c, err
	}
	p.Replay = true
	sys, err := assembly.Build(p, log)
	if err != nil {
		return player.Counts, err
	}
	sys.Rig.BeginReplay()
	for range replayCycles {
		if err = sys.Rig.ReplayCycle(0); err != nil {
			break
		}
	}
	return player.Counts, errors.Join(err, sys.Close())
}

// served is the plan that serve opens. A config that is simulated as a whole is real: so it was for the doctor.
func (r *Report) served(dir string) (*plan.Plan, error) {
	c, err := r.Unpack(dir)
	if err == nil {
		c.Classes = nil // no client spawns one: serve opens none of their devices
	}
	if err == nil && len(c.Agents) > 0 && simulated(c) {
		c, err = c.WithBody(configs.Real)
	}
	if err != nil {
		return nil, err
	}
	return plan.Resolve(c, builtin.Catalog())
}

// simulated reports whether no agent of c has a body of another kind.
func simulated(c *configs.Config) bool {
	return !slices.ContainsFunc(c.Agents, func(a configs.Agent) bool { return a.HasOther(configs.Sim) })
}

// stand makes emulated servos with the registers of the report; one without registers is silent.
func (r *Report) stand(p *plan.Plan) (func(string, configs.BodyKind) servo.Line, error) {
	e := *p
	e.Agents = slices.Clone(p.Agents)
	for i := range e.Agents {
		a := &e.Agents[i]
		a.Joints = slices.Clone(a.Joints)
		for k := range a.Joints {
			if j := &a.Joints[k]; j.Servo != nil && j.Body == configs.Real {
				j.Body = configs.Emulated
			}
		}
	}
	w, err := assembly.EmulateWorld(&e)
	if err != nil {
		return nil, err
	}
	for bus := range p.Config.Buses {
		b := w.Bus(bus)
		if b == nil {
			continue
		}
		for _, s := range b.Servos() {
			id, _ := s.Register("id")
			known := false
			for name, f := range r.Registers {
				if on, _, _ := strings.Cut(name, "."); on != bus || f.ID != int(id) {
					continue
				}
				known = true
				for register, v := range f.Registers {
					if register != "id" {
						s.Preset(register, v)
					}
				}
			}
			if !known {
				if err := w.Plant(fmt.Sprintf("%s: off servo %d", bus, id)); err != nil {
					return nil, err
				}
			}
		}
	}
	return func(bus string, _ configs.BodyKind) servo.Line {
		if b := w.Bus(bus); b != nil {
			return b.Line()
		}
		return nil
	}, nil
}
