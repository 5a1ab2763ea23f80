package main

import (
	"fmt"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// boardPlan is a board that makes pulses, resolved.
type boardPlan struct {
	bus, device       string
	address           int // -1: it has none
	body              configs.BodyKind
	kind              *outputKind
	channels          int     // 0..channels-1 are used
	hertz, oscillator float64 // 0: the usual
	crc               bool
	root              string    // of kernel-pwm; "" = the kernel's own
	thrusts           bool      // a thruster hangs on it
	gate              *gatePlan // nil: nothing cuts it off but its bus

	taken map[int]configs.Path
	said  map[string]configs.Path // where a setting of the whole board was said
}

// name is what errors call it.
func (p *boardPlan) name() string {
	if p.bus == "" {
		return p.device
	}
	return p.bus
}

// pulsePlan is a joint that a channel of a board drives; a nil board is none.
type pulsePlan struct {
	board       *boardPlan
	channel     int
	calibration *calibration.Pulse // nil: nominal values, where the joint is not real
}

// pulses resolves a joint that a board's channel drives. After a fault the board is nil.
func (r *resolver) pulses(at configs.Path, c *configs.Joint, body configs.BodyKind) (p pulsePlan) {
	kinds := outputKinds()
	kind := kinds[c.Device]
	if kind == nil {
		rule, fix := known(kinds, c.Device)
		r.fault(at.Key("device"), c.Device, rule, fix)
		return p
	}
	var types []string
	if kind.bus != "" {
		types = []string{kind.bus}
	}
	address, ok := r.address(at, c.Address, kind.addresses)
	if !ok || !r.onBus(at, c.Bus, c.Device, types) || c.Channel == nil || c.Bus != "" && !r.sit(at, c.Bus, c.Device, address) {
		return p
	}
	p.channel = *c.Channel
	if most := kind.channels[len(kind.channels)-1]; p.channel >= most {
		r.fault(at.Key("channel"), fmt.Sprint(p.channel), fmt.Sprintf("0..%d", most-1), "")
		return p
	}
	board := r.board(c, kind, address, body)
	if other, taken := board.taken[p.channel]; taken {
		r.fault(at.Key("channel"), fmt.Sprint(p.channel), "a channel of its own", fmt.Sprintf("%s has it too", other))
		return p
	}
	board.taken[p.channel] = at
	board.channels = max(board.channels, p.channel+1)
	r.wholly(board, at, "hertz", c.Hertz, &board.hertz)
	r.wholly(board, at, "oscillator", c.Oscillator, &board.oscillator)
	board.crc = board.crc || c.CRC
	r.gate(at, board, c.Gate)
	p.board = board
	p.calibration = r.pulseCalibration(at, c, body)
	return p
}

// board is the one that c is a channel of.
func (r *resolver) board(c *configs.Joint, kind *outputKind, address int, body configs.BodyKind) *boardPlan {
	for _, b := range r.devices.boards {
		if b.bus == c.Bus && b.device == c.Device && b.address == address && b.body == body {
			return b
		}
	}
	b := &boardPlan{bus: c.Bus, device: c.Device, address: address, body: body, kind: kind,
		taken: map[int]configs.Path{}, said: map[string]configs.Path{}}
	r.devices.boards = append(r.devices.boards, b)
	return b
}

// wholly takes a setting of a whole board, which may be said at several of its channels if it is the same.
func (r *resolver) wholly(b *boardPlan, at configs.Path, key string, said, to *float64) {
	first, twice := b.said[key]
	switch {
	case said == nil:
	case twice && *said != *to:
		r.fault(at.Key(key), fmt.Sprint(*said), fmt.Sprintf("%g, for the whole board has one", *to), fmt.Sprintf("%s says so", first))
	default:
		*to, b.said[key] = *said, at.Key(key)
	}
}

// pulseCalibration reads an output's calibration file. Without one a joint that is not real runs on nominal values: nil.
func (r *resolver) pulseCalibration(at configs.Path, c *configs.Joint, body configs.BodyKind) *calibration.Pulse {
	at = at.Key("calibration")
	const must = "a calibration file of this channel, since the joint is real"
	if c.Calibration == "" {
		if body == configs.Real {
			r.uncalibrated(at, "none", must, r.measureFix())
		}
		return nil
	}
	p, err := calibration.LoadPulse(r.config.Resolve(c.Calibration))
	switch {
	case hal.KindOf(err) == hal.Uncalibrated && body != configs.Real:
		return nil // the file is yet to be made
	case err != nil:
		r.unread(at, c.Calibration, must, err)
		return nil
	case p.Device.Model != c.Device || p.Device.Channel != *c.Channel:
		r.uncalibrated(at, fmt.Sprintf("one of %s channel %d", p.Device.Model, p.Device.Channel),
			fmt.Sprintf("one of %s channel %d", c.Device, *c.Channel), r.measureFix())
	}
	return p
}

// pulsed leaves a joint what pulses can tell it: its position, or what its calibration says.
func (r *resolver) pulsed(at configs.Path, p *jointPlan, j *model.Joint) {
	for m := range j.Modes {
		takes := hal.Mode(m) == hal.PositionMode
		if c := p.pulses.calibration; c != nil {
			takes = c.Takes(hal.Mode(m))
		}
		j.Modes[m] = j.Modes[m] && takes
	}
	switch {
	case j.Modes == [hal.NumModes]bool{}:
		r.fault(at.Key("calibration"), p.hardware.Calibration, "one that drives what the joint has", "")
	case p.body == configs.Emulated && (j.Servo == nil || !j.Modes[hal.PositionMode]):
		r.fault(at.Key("device"), p.hardware.Device, "a joint with a servo in its robot file and positions, to be emulated", "")
	}
}

// thrusters resolves what drives the thrusters of a vehicle with layout l.
func (r *resolver) thrusters(path configs.Path, c *configs.Agent, l *hal.Layout) []jointPlan {
	plans := make([]jointPlan, len(l.Actuators))
	for i := range l.Actuators {
		name := l.Actuators[i].Name
		p, at := &plans[i], path.Key("hardware").Key("joints").Key(name)
		if p.body = c.BodyOf(name); p.body != c.Body {
			r.fault(path.Key("parts").Key(name), string(p.body), string(c.Body)+", as the other thrusters", "")
		}
		if c.Hardware != nil {
			if hw, ok := c.Hardware.Joints[name]; ok {
				p.hardware = &hw
			}
		}
		switch {
		case p.hardware == nil && p.body != configs.Sim:
			r.fault(at, "none", fmt.Sprintf("the channel of %s, which is %s", name, p.body), "")
		case p.hardware == nil:
		case p.hardware.Device == "":
			r.fault(at.Key("model"), p.hardware.Model, "no servo: a thruster has device and channel", "")
		default:
			p.pulses = r.pulses(at, p.hardware, p.body)
		}
	}
	return plans
}
