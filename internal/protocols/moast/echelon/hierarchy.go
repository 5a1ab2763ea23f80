package echelon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/grid"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Level is an echelon.
type Level uint8

// The levels, from below.
const (
	Servo Level = iota
	Prim
	AM
	Veh
	Sect
	NumLevels
)

var levelNames = [...]string{"servo", "prim", "am", "veh", "sect"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel reads the name of a level.
func ParseLevel(name string) (Level, error) {
	for i, have := range levelNames {
		if have == name {
			return Level(i), nil
		}
	}
	return 0, fmt.Errorf("level: got %q, want servo, prim, am, veh or sect", name)
}

// Options choose what a hierarchy runs.
type Options struct {
	ID       int     // of the vehicle, in the names of its buffers; 0 = 1
	Levels   []Level // those that run; empty = all that are implemented
	Encoding nml.Encoding
	Fleet    *Fleet  // which the section connects to; nil = this vehicle alone. The section runs with vehicle 1.
	Cycle    float64 // of servo, s; 0 = 0.01
	// s without a request, after which a superior counts as gone; 0 = never, while its connection lasts
	Silence float64
}

// tick is how often the modules are checked, s.
const tick = 0.01

// The types of the data messages.
const (
	navData    = 1001
	dataList   = 14001
	data1D     = 14004
	data2D     = 14005
	data3D     = 14008
	sensorData = 14009
)

// Hierarchy is the modules of one vehicle. One goroutine calls Step; its buffers may be used from any.
type Hierarchy struct {
	vehicle Vehicle
	buffers *buffers
	modules []*Module
	seen    Observation
}

// New returns a hierarchy for vehicle. All buffers of its levels, and of the levels between, exist from here on.
func New(vehicle Vehicle, o Options) (*Hierarchy, error) {
	about := vehicle.Describe()
	if !(about.WheelRadius > 0) || !(about.WheelSeparation > 0) {
		return nil, fmt.Errorf("vehicle %s: wheels: got radius %g m, separation %g m, want above 0", about.Platform,
			about.WheelRadius, about.WheelSeparation)
	}
	o.ID = cmp.Or(o.ID, 1)
	runs := [NumLevels]bool{}
	for _, l := range o.Levels {
		if l >= NumLevels {
			return nil, fmt.Errorf("level: got %d, want below %d", l, NumLevels)
		}
		runs[l] = true
	}
	if len(o.Levels) == 0 {
		runs = [NumLevels]bool{true, true, true, true, true}
	}
	o.Fleet = cmp.Or(o.Fleet, &Fleet{})
	o.Cycle = cmp.Or(o.Cycle, tick)
	if !(o.Cycle >= 0.001 && o.Cycle <= 1) {
		return nil, fmt.Errorf("cycle of servo: got %g s, want 0.001..1", o.Cycle)
	}
	h := &Hierarchy{vehicle: vehicle,
		buffers: &buffers{vehicle: o.ID, radius: math.Hypot(about.Length, about.Width) / 2,
			encoding: o.Encoding, byName: map[string]*nml.Buffer{}}}
	h.buffers.nav = h.buffers.get(moast.NavDataBuffer(o.ID), navData)
	if err := o.Fleet.join(h.buffers); err != nil {
		return nil, err
	}
	h.addServo(about, runs[Servo], o.Cycle)
	h.addPrim(about, runs[Prim])
	h.addAM(about, runs[AM], o.Fleet)
	h.addAbove(about, runs[Veh], runs[Sect] && o.ID == 1, o.Fleet)
	for _, m := range h.modules {
		m.silence = o.Silence
	}
	return h, nil
}

// add keeps a module where its level runs; its buffers are there in any case.
func (h *Hierarchy) add(runs bool, modules ...*Module) {
	if runs {
		h.modules = append(h.modules, modules...)
	}
}

func (h *Hierarchy) addServo(about Description, runs bool, cycle float64) {
	b := h.buffers
	sp := &servoSP{vehicle: h.vehicle, seen: &h.seen, nav: b.nav, sonar: b.get(moast.SonarBuffer(b.vehicle), data3D),
		buffers: b}
	// the buffers of the scanners exist before a client asks for them
	h.vehicle.Observe(&h.seen)
	for i := range h.seen.Scans {
		b.get(moast.LineScanBuffer(b.vehicle, i+1), data1D)
	}
	for i := range h.seen.Kinds {
		b.get(moast.SensorDataBuffer(b.vehicle, i+1), sensorData)
	}
	status := &moast.ServoMobStatGround{}
	mob := &servoMob{vehicle: h.vehicle, about: about, status: status, seen: &h.seen}
	set := &moast.ServoMobSetGround{MaxWheelRotation: about.MaxWheelSpeed, WheelSeparation: about.WheelSeparation,
		WheelRadius: about.WheelRadius, WheelBase: about.WheelBase}
	set.CycleTime, set.Platform, set.Length, set.Width, set.Height, set.Mass = cycle, about.Platform, about.Length,
		about.Width, about.Height, 1000*about.Mass
	set.Steer, set.Bot, set.Sensors = about.Steer, moast.GroundVehicle, int32(len(h.seen.Scans)+len(h.seen.Sonars))
	set.MaxSteerAngle, set.Flippers = about.MaxSteer, about.Flippers
	set.MissionParts, set.Effectors = int32(len(about.Packages)), int32(len(about.Effectors))
	if about.MaxSteer > 0 {
		set.MinTurnRadius = about.WheelBase / math.Tan(about.MaxSteer)
	}
	for i := range about.Packages {
		p := &about.Packages[i]
		mis := &servoMis{vehicle: h.vehicle, pack: i, links: p.Links, status: &moast.ServoMisStat{}, seen: &h.seen}
		set := &moast.ServoMisSet{CycleTime: cycle, Name: p.Name, Mount: p.Mount, Links: p.Links}
		h.add(runs, newSubsystem(b, "servoMisJA", i+1, mis, mis.status, set, &set.CycleTime))
	}
	if len(about.Effectors) > 0 {
		h.add(runs, newPlain(b, "servoEffJA", cycle, &servoEff{vehicle: h.vehicle}, &moast.PlainStat{Kind: 5101}, 5301))
	}
	spSet := &moast.ServoSPSet{CycleTime: cycle, Vehicle: int32(b.vehicle)}
	h.add(runs, newModule(b, "servoSP", sp, &moast.PlainStat{Kind: 2101}, spSet, &spSet.CycleTime),
		newModule(b, "servoMobJA", mob, status, set, &set.CycleTime))
}

func (h *Hierarchy) addPrim(about Description, runs bool) {
	b := h.buffers
	status, set := &moast.PrimMobStat{}, &moast.PrimMobSet{CycleTime: tick}
	// ours: what a Pioneer does indoors
	set.MoveLimits = moast.MoveLimits{VMax: 0.5, AMax: 0.5, WMax: 1, AlphaMax: 3, VCutoff: 0.5, WCutoff: 0.5}
	if most := about.MaxWheelSpeed * about.WheelRadius; most > 0 {
		set.VMax = min(set.VMax, most)
		set.WMax = min(set.WMax, 2*most/about.WheelSeparation)
	}
	mob := &primMob{about: about, limits: &set.MoveLimits, status: status, nav: b.nav}
	m := newModule(b, "primMobJA", mob, status, set, &set.CycleTime)
	mob.servo = m.link(b, "servoMobJA", "GrdVeh")
	sp := &primSP{nav: b.nav, points: b.get(moast.SensorPointsBuffer(b.vehicle), dataList),
		sonar: b.get(moast.SonarBuffer(b.vehicle), data3D)}
	for i := range h.seen.Scans {
		sp.scanners = append(sp.scanners,
			scanner{mount: h.seen.Scans[i].Mount, buffer: b.get(moast.LineScanBuffer(b.vehicle, i+1), data1D)})
	}
	spModule := newPlain(b, "primSP", tick, sp, &moast.PlainStat{Kind: 6101}, 6301)
	spModule.link(b, "servoSP", "")
	h.add(runs, spModule, m)
}

func (h *Hierarchy) addAM(about Description, runs bool, fleet *Fleet) {
	b := h.buffers
	others := &traffic{fleet: fleet, self: b}
	area := b.get(moast.MapBuffer(b.vehicle), data2D)
	sp := &amSP{nav: b.nav, points: b.byName[moast.SensorPointsBuffer(b.vehicle)], out: area, others: others,
		floor: grid.NewMap(amCells, resolution)}
	spSet := &moast.AMSPSet{CycleTime: amCycle}
	spModule := newModule(b, "amSP", sp, &moast.PlainStat{Kind: 9101}, spSet, &spSet.CycleTime)
	spModule.link(b, "primSP", "")
	// the vehicle turns on the spot: it needs the circle about it, and half a cell
	width := math.Hypot(about.Length, about.Width) + resolution
	status := &moast.AMMobStat{ErrorCode: moast.AMErrorNone}
	set := &moast.AMMobSet{CellResolution: resolution, CycleTime: amCycle, PlanHorizon: amShown * resolution / 2,
		VehicleWidth: width}
	mob := &amMob{status: status, set: set, chart: chart{nav: b.nav, area: area}, others: others}
	m := newModule(b, "amMobJA", mob, status, set, &set.CycleTime)
	mob.prim = m.link(b, "primMobJA", "")
	h.add(runs, spModule, m)
}

// addAbove adds the vehicle and the section.
func (h *Hierarchy) addAbove(about Description, veh, sect bool, fleet *Fleet) {
	b := h.buffers
	area := b.get(moast.MapBuffer(b.vehicle), data2D)
	floor := b.get(VehMapBuffer(b.vehicle), data2D)
	// less than AM's circle: an obstacle fills a whole cell here, and AM keeps the distance
	radius := math.Hypot(about.Length, about.Width)/2 - vehResolution/4
	sp := newPlain(b, "vehSP", vehCycle, &vehSP{chart: chart{nav: b.nav, area: area}, out: floor},
		&moast.PlainStat{Kind: 12101}, 12301)
	sp.link(b, "amSP", "")
	mob := &vehMob{chart: chart{nav: b.nav, area: floor}, radius: radius, others: &traffic{fleet: fleet, self: b}}
	m := newPlain(b, "vehMobPL", vehCycle, mob, &moast.PlainStat{Kind: 13101}, 13301)
	mob.am = m.link(b, "amMobJA", "")
	h.add(veh, sp, m)
	if b.vehicle == 1 {
		status := &moast.SectMobStat{}
		h.add(sect, newPlain(b, "sectMobPL", sectCycle,
			&sectMob{status: status, fleet: fleet, radius: radius, random: 1}, status, 16301))
	}
}

// Buffers are all buffers, for a server.
func (h *Hierarchy) Buffers() []*nml.Buffer { return append([]*nml.Buffer(nil), h.buffers.all...) }

// Buffer finds a buffer by its name, or returns nil.
func (h *Hierarchy) Buffer(name string) *nml.Buffer { return h.buffers.byName[name] }

// Step runs the modules that are due at now, s, from above, so that a command passes down in one step.
func (h *Hierarchy) Step(now float64) error {
	var faults []error
	if err := h.vehicle.Ready(); err != nil {
		for _, m := range h.modules {
			m.abandon(err.Error())
		}
	}
	for i := len(h.modules) - 1; i >= 0; i-- {
		h.modules[i].run(now)
	}
	for _, m := range h.modules {
		if m.err != nil {
			faults = append(faults, m.err)
			m.err = nil
		}
	}
	return errors.Join(faults...)
}

// Run steps each 10 ms of the wall clock until ctx ends, then stops the vehicle. It returns the first error of a step.
func (h *Hierarchy) Run(ctx context.Context) error {
	start := time.Now()
	t := time.NewTicker(time.Duration(tick * float64(time.Second)))
	defer t.Stop()
	defer func() {
		for _, m := range h.modules {
			m.controller.Stop(m)
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := h.Step(time.Since(start).Seconds()); err != nil {
				return err
			}
		}
	}
}

// Config is the configuration file of the buffers of hierarchies, each on a port of a host, that rcslib programs open.
func Config(host string, port func(i int) int, all ...*Hierarchy) *nml.Config {
	c := &nml.Config{}
	for i, h := range all {
		for _, b := range h.buffers.all {
			o := b.Options()
			c.Buffers = append(c.Buffers, nml.BufferLine{Name: o.Name, Type: "SHMEM", Host: host, Size: o.Size,
				Number: o.Number, Key: nml.FirstKey + len(c.Buffers), Port: port(i), Encoding: o.Encoding})
		}
	}
	c.Processes = []nml.ProcessLine{{Process: "default", Buffer: "default", Type: "REMOTE", Host: host, Ops: "RW"}}
	return c
}
