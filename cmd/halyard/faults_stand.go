package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
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

// standRig hangs two joints on a line of servos, one on a board, and the sensors on I2C: what is tried is one of them, and
// the rest are its neighbours.
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

// standRover is a Pioneer that stands in a hall: for what only a robot on wheels has.
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

// stand is a rig with one device on trial. It is stepped in virtual time.
type stand struct {
	sockets
	row    *faultRow
	sys    *system
	agent  *hal.Agent
	party  *hal.Party
	lease  *hal.Lease
	taps   map[string]*uart.Tap
	dir    string
	now    time.Duration
	inputs []float64
	events []string
	tags   []int // that readers told
	eye    standEye

	slewing bool // enabled anew: on its way from where it was to its goal

	goals  []float64   // of the joints, rad, as told in this cycle
	truth  [][]float64 // of the joints, one a cycle: where they truly are
	widths []float64   // of the pulse joint: what it was told, in rad, one a cycle
}

// newStand builds the stand for a row.
func newStand(row *faultRow, seed int64) (s *stand, err error) {
	s = &stand{row: row, taps: map[string]*uart.Tap{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("stand of %s: %w", row.device, err)
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "halyard-stand"); err != nil {
		return s, err
	}
	spec, ok := actuator.Lookup(row.servo)
	if !ok {
		return s, fmt.Errorf("servo: no motor of %q is known", row.servo)
	}
	text := strings.NewReplacer("ID1", fmt.Sprint(row.id), "ID2", fmt.Sprint(row.id+1), "SEED", fmt.Sprint(seed), "TYPE", row.lineType, "PORT", row.port, "BAUD", fmt.Sprint(row.baud), "SERVO", row.servo,
		"VOLTS", fmt.Sprint(spec.NominalVolts), "EXTRA", row.buses, "BOARD", row.board, "MONITOR", row.monitor, "CAMERAS", row.cameras, "WIRES", row.wires,
		"BASE", row.base, "PERIOD", standPeriod.String(), "SCANNER", row.scanner)
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
	p, err := resolve(c)
	if err != nil {
		return s, err
	}
	s.sockets = sockets{root: filepath.Join(s.dir, "root"), nodes: map[string]string{}}
	var sockets error
	p.tap = func(bus string, open servo.Opener) servo.Opener {
		tap := uart.NewTap(seed, open)
		if s.taps[bus] = tap; row.frames && bus == row.on {
			tap.Unit = servo.CANSize
			return tap.Open // the names of interfaces are the system's to keep
		}
		sockets = errors.Join(sockets, s.plug(c.Buses[bus].Port))
		return s.follow(c.Buses[bus].Port, tap.Open)
	}
	p.lens = s.lens
	s.sys, err = build(p, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, sockets); err != nil {
		return s, err
	}
	for plan, field := range s.sys.emulation.fields {
		field.held = []uint32{heldTag}
		s.sys.pollers[plan].Listen(func(tag int) { s.tags = append(s.tags, tag) })
	}
	s.agent = s.sys.rig.Agents()[0]
	s.party = s.sys.rig.NewParty("faults", s)
	for range s.agent.Layout().Inputs {
		s.inputs = append(s.inputs, math.NaN())
	}
	s.goals = make([]float64, len(s.agent.Layout().Actuators))
	if s.lease, err = s.party.Acquire(s.agent); err != nil {
		return s, err
	}
	return s, s.watch()
}

// Cycle implements hal.Observer.
func (s *stand) Cycle(c *hal.Cycle) {
	for _, id := range c.Events {
		s.events = append(s.events, s.sys.rig.Events().Name(id))
	}
}

// swing is how far and how fast the joints go to and fro: a value that is old is a value that is wrong then.
const (
	swing     = 0.4 // rad
	swingTime = 2 * time.Second
)

// step lets one cycle pass.
func (s *stand) step() error {
	l := s.agent.Layout()
	for i := range l.Actuators {
		if !s.row.rover { // which stands still
			s.goals[i] = swing * math.Sin(2*math.Pi*s.now.Seconds()/swingTime.Seconds())
			s.inputs[l.Actuators[i].Goal[hal.PositionMode]] = s.goals[i]
		}
	}
	if err := s.party.Step(s.lease, s.inputs); err != nil {
		return err
	}
	s.now += s.sys.rig.Period()
	s.see()
	if !s.row.rover {
		body := s.sys.scene.Body("stand")
		at := make([]float64, len(l.Actuators))
		for i := range at {
			at[i] = body.Joint(i).Servo.Position
		}
		s.truth, s.widths = append(s.truth, at), append(s.widths, s.goals[l.Actuator("pulse")])
	}
	return nil
}

// close gives the stand back.
func (s *stand) close() {
	if s.eye.watch != nil {
		s.eye.watch.Close()
	}
	if s.sys != nil {
		s.party.Close()
		s.sys.close() // nothing of it is real
	}
	os.RemoveAll(s.dir)
}

// reading is what the rig knows of a device: when its value came, and what is wrong with it.
type reading struct {
	at    time.Duration // < 0: never
	err   error
	wrong string // what is wrong with a value that is handed on as right, "" where it is right
	none  bool   // a reader tells of no tag, which is all that it can say of silence
}

// read is what the rig knows of the device called name.
func (s *stand) read(name string) (r reading) {
	if s.row.bus == videoBus && slices.Contains(s.row.names, name) {
		return s.shown()
	}
	l := s.agent.Layout()
	for i := range l.Actuators {
		if l.Actuators[i].Name == name {
			st := s.agent.Status(nil)[i]
			r = reading{at: st.Time, err: st.Err}
			if st.Err == nil && st.Time >= 0 {
				r.wrong = s.joint(i, st.Time)
			}
			return r
		}
	}
	for i := range l.Sensors {
		if at := &l.Sensors[i]; at.Name == name {
			st := s.agent.Status(nil)[len(l.Actuators)+i]
			r = reading{at: st.Time, err: st.Err}
			if st.Err == nil && st.Time >= 0 && slices.Contains(s.row.names, name) {
				r.wrong = s.row.judge(name, s.agent.Measured(nil)[at.First:at.First+at.Count])
			}
			return r
		}
	}
	return s.monitor()
}

// What a position may be off by: the tick, backlash and dead band of a servo that moves, and of a pulse. Where a checksum
// of eight bits, or none, is all that guards a position, one that the servo could have come to is believed.
const (
	offPosition = 0.04 // rad
	offChance   = 0.2  // rad
	offPulse    = 0.03 // rad of the servo that it tells
)

// joint says what is wrong with the position of joint i, whose value came at the time at.
func (s *stand) joint(i int, at time.Duration) string {
	period := s.sys.rig.Period()
	n := len(s.truth)
	if s.agent.Layout().Actuators[i].Name == "pulse" {
		// It says nothing: what counts is what the servo is told, which must be what it was to be told of late.
		servo := s.sys.scene.Body("stand").Joint(i).Servo
		if !servo.Enable || s.slewing || s.now-at > 5*period {
			return ""
		}
		for k := max(0, n-12); k < n; k++ {
			if math.Abs(s.widths[k]-servo.GoalPosition) < offPulse {
				return ""
			}
		}
		return fmt.Sprintf("the servo is told %.3f rad, want %.3f", servo.GoalPosition, s.widths[n-1])
	}
	got := s.agent.Measured(nil)[s.agent.Layout().Actuators[i].Position]
	// It is of the cycle that ended at its time, or of one beside it.
	k := int(at/period) - 1
	for d := -2; d <= 1; d++ {
		if k+d >= 0 && k+d < n && math.Abs(s.truth[k+d][i]-got) < s.row.off {
			return ""
		}
	}
	return fmt.Sprintf("position %.3f rad, truly %.3f", got, s.truth[min(max(k, 0), n-1)][i])
}

// monitor is what the device on trial says where it is none of the robot's parts.
func (s *stand) monitor() reading {
	for _, p := range s.sys.plan.sensors {
		if len(p.uses) > 0 {
			continue
		}
		poller := s.sys.pollers[p]
		values := make([]float64, poller.Values())
		age, err := poller.Latest(values, 0)
		r := reading{at: -1, err: err}
		if age >= 0 {
			r.at = s.now - age
		}
		if err == nil && age >= 0 {
			r.wrong = s.row.judge(p.name, values)
			r.none = s.row.mute && values[0] == 0
		}
		for _, tag := range s.tags {
			if tag != s.row.tag {
				r.wrong = fmt.Sprintf("tag %X, want %X", tag, s.row.tag)
			}
		}
		return r
	}
	return reading{at: -1, err: fmt.Errorf("there is no monitor")}
}
