package lab

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// standRobot is three joints and an inertial sensor on a post that does not move.
const standRobot = `
name: stand
title: the robot on which devices are tried
supply: {volts: VOLTS, ohms: 0.01}
base: fixed
bodies:
  - {name: post, position_m: [0, 0, 0.2], mass_kg: 5, shapes: [{box: [0.02, 0.02, 0.4], collides: false}]}
  - {name: one, position_m: [0, 0.1, 0.1], mass_kg: 0.05, shapes: [{box: [0.05, 0.05, 0.05], collides: false}]}
  - {name: two, position_m: [0, 0.1, 0.2], mass_kg: 0.05, shapes: [{box: [0.05, 0.05, 0.05], collides: false}]}
  - {name: pulse, position_m: [0, 0.1, 0.3], mass_kg: 0.05, shapes: [{box: [0.05, 0.05, 0.05], collides: false}]}
joints:
  - {name: one, servo: SERVO, modes: [position], limits_deg: [-60, 60], parent: post, child: one, anchor_m: [0, 0, 0.1], axis: [0, 0, 1]}
  - {name: two, servo: SERVO, modes: [position], limits_deg: [-60, 60], parent: post, child: two, anchor_m: [0, 0, 0.2], axis: [0, 0, 1]}
  - {name: pulse, servo: SERVO, modes: [position], limits_deg: [-60, 60], parent: post, child: pulse, anchor_m: [0, 0, 0.3], axis: [0, 0, 1]}
sensors:
  - {name: imu, kind: imu, body: post}
cameras:
  - {name: eye, body: post, at_m: [0.1, 0, 0], pixels: [32, 32], fov_deg: 45}
`

// standRig hangs two joints on a line of servos, one on a board, and the sensors on I2C: what is tried is one of them,
// and the rest are its neighbours.
const standRig = `
name: stand
clock: {mode: lockstep, period: PERIOD}
world: {seed: SEED}
buses:
  line: {type: TYPE, baud: BAUD, port: PORT}
  main: {type: i2c, port: /dev/i2c-1}
EXTRA
agents:
  - name: stand
    model: robot.yaml
    body: emulated
    hardware:
      joints:
        one: {bus: line, id: ID1, model: SERVO}
        two: {bus: line, id: ID2, model: SERVO}
        pulse: BOARD
      sensors:
        imu: {bus: main, device: bno055, rate: 100}
CAMERAS
WIRES
MONITOR
servers: []
`

// standRover is a Pioneer that is in a hall: for what only a robot on wheels has.
const standRover = `
name: stand
clock: {mode: lockstep, period: PERIOD}
world: {scene: hall, seed: SEED}
buses:
  base: {type: serial, port: /dev/serial/by-id/base}
  usb: {type: serial, port: /dev/serial/by-id/usb}
  main: {type: i2c, port: /dev/i2c-1}
agents:
  - name: stand
    model: usarsim-p2at
    pose: {position: [5, -6, -1.82], rotation: [0, 0, 0.5]}
    body: emulated
    parts: {camera_pan: sim, camera_tilt: sim}
    hardware:
      base: BASE
      sensors:
        scanner1: SCANNER
        inu: {bus: main, device: bno055}
servers: []
`

// standPeriod is the period of its cycle.
const standPeriod = 10 * time.Millisecond

// TestRig is a rig with one device on trial. It is stepped in virtual time.
type TestRig struct {
	sockets
	Row    *FaultRow
	Sys    *assembly.System
	agent  *hal.Agent
	party  *hal.Session
	lease  *hal.Lease
	taps   map[string]*wire.Tap
	dir    string
	now    time.Duration
	inputs []float64
	events []string
	tags   []int // that readers reported
	Eye    testCamera

	arrives time.Duration // until when the pulse may be on its way to its goal: enabled again, or back after a fault

	goals  []float64   // of the joints, rad, as commanded in this cycle
	truth  [][]float64 // of the joints, one a cycle: where they truly are
	widths []float64   // of the pulse joint: its commands, rad, one a cycle
}

// newTestRig builds the test rig for a row.
func newTestRig(row *FaultRow, seed int64) (s *TestRig, err error) {
	s = &TestRig{Row: row, taps: map[string]*wire.Tap{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("stand of %s: %w", row.Device, err)
			s.Close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "halyard-stand"); err != nil {
		return s, err
	}
	spec, ok := actuator.Lookup(row.servo)
	if !ok {
		return s, fmt.Errorf("servo: no motor of %q is known", row.servo)
	}
	text := strings.NewReplacer("ID1", fmt.Sprint(row.id), "ID2", fmt.Sprint(row.id+1), "SEED", fmt.Sprint(seed),
		"TYPE", row.LineType, "PORT", row.port, "BAUD", fmt.Sprint(row.Baud), "SERVO", row.servo,
		"VOLTS", fmt.Sprint(spec.NominalVolts), "EXTRA", row.buses, "BOARD", row.Board, "MONITOR", row.monitor,
		"CAMERAS", row.Cameras, "WIRES", row.Wires,
		"BASE", row.Base, "PERIOD", standPeriod.String(), "SCANNER", row.scanner)
	rig := standRig
	if row.rover {
		rig = standRover
	}
	for name, what := range map[string]string{"rig.yaml": rig, "robot.yaml": standRobot} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text.Replace(what)), 0o600); err != nil {
			return s, err
		}
	}
	c, err := configs.Load(filepath.Join(s.dir, "rig.yaml"), configs.Options{})
	if err != nil {
		return s, err
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		return s, err
	}
	s.sockets = sockets{root: filepath.Join(s.dir, "root"), nodes: map[string]string{}}
	var sockets error
	p.Tap = func(bus string, _ configs.BodyKind, open servo.Opener) servo.Opener {
		tap := wire.NewTap(seed, open)
		if s.taps[bus] = tap; row.frames && bus == row.On {
			tap.Unit = servo.CANSize
			return tap.Open // the names of interfaces are the system's to keep
		}
		sockets = errors.Join(sockets, s.plug(c.Buses[bus].Port))
		return s.follow(c.Buses[bus].Port, tap.Open)
	}
	p.Lens = s.lens
	s.Sys, err = assembly.Build(p, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, sockets); err != nil {
		return s, err
	}
	for plan, field := range s.Sys.Emulation.Fields {
		field.Held = []uint32{heldTag}
		s.Sys.Pollers[plan].Listen(func(tag int) { s.tags = append(s.tags, tag) })
	}
	s.agent = s.Sys.Rig.Agents()[0]
	s.party = s.Sys.Rig.NewSession("faults", s)
	for range s.agent.Layout().Inputs {
		s.inputs = append(s.inputs, math.NaN())
	}
	s.goals = make([]float64, len(s.agent.Layout().Actuators))
	if s.lease, err = s.party.Acquire(s.agent); err != nil {
		return s, err
	}
	return s, s.watch()
}

func (s *TestRig) Cycle(c *hal.Cycle) {
	for _, id := range c.Events {
		s.events = append(s.events, s.Sys.Rig.Events().Name(id))
	}
}

// swing is how far and how fast the joints go to and fro: a value that is old is a value that is wrong then.
const (
	swing     = 0.4 // rad
	swingTime = 2 * time.Second
)

// Step lets one cycle pass.
func (s *TestRig) Step() error {
	l := s.agent.Layout()
	for i := range l.Actuators {
		if !s.Row.rover { // which does not move
			s.goals[i] = swing * math.Sin(2*math.Pi*s.now.Seconds()/swingTime.Seconds())
			s.inputs[l.Actuators[i].Goal[hal.PositionMode]] = s.goals[i]
		}
	}
	if err := s.party.Step(s.lease, s.inputs); err != nil {
		return err
	}
	s.now += s.Sys.Rig.Period()
	s.see()
	if !s.Row.rover {
		body := s.Sys.Scene.Body("stand")
		at := make([]float64, len(l.Actuators))
		for i := range at {
			at[i] = body.Joint(i).Servo.Position
		}
		s.truth, s.widths = append(s.truth, at), append(s.widths, s.goals[l.Actuator("pulse")])
	}
	return nil
}

// Close closes the rig and removes its files.
func (s *TestRig) Close() {
	if s.Eye.watch != nil {
		s.Eye.watch.Close()
	}
	if s.Sys != nil {
		s.party.Close()
		s.Sys.Close() // nothing of it is real
	}
	os.RemoveAll(s.dir)
}
