package plan

import (
	"fmt"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/sim/model"
)

// pulsePlan is a joint that a channel of a PWM board drives; if Board is nil, the joint has no board.
type pulsePlan struct {
	Board       *catalog.BoardPlan
	Channel     int
	Calibration *calibration.Pulse // nil: nominal values, where the joint is not real
}

// pulses resolves a joint that a board's channel drives. After a fault the board is nil.
func (r *Resolver) pulses(at configs.Path, c *configs.Joint, body configs.BodyKind) (p pulsePlan) {
	kinds := r.Catalog.Outputs
	kind := kinds[c.Device]
	if kind == nil {
		rule, fix := catalog.Known(kinds, c.Device)
		r.fault(at.Key("device"), c.Device, rule, fix)
		return p
	}
	var types []string
	if kind.Bus != "" {
		types = []string{kind.Bus}
	}
	address, ok := r.address(at, c.Address, kind.Addresses)
	if !ok || !r.onBus(at, c.Bus, c.Device, types) || c.Channel == nil ||
		c.Bus != "" && !r.sit(at, c.Bus, c.Device, address) {
		return p
	}
	p.Channel = *c.Channel
	if most := kind.Channels[len(kind.Channels)-1]; p.Channel >= most {
		r.fault(at.Key("channel"), fmt.Sprint(p.Channel), fmt.Sprintf("0..%d", most-1), "")
		return p
	}
	board := r.Board(c, kind, address, body)
	if other, taken := board.Taken[p.Channel]; taken {
		r.fault(at.Key("channel"), fmt.Sprint(p.Channel), "a channel of its own", fmt.Sprintf("%s has it too", other))
		return p
	}
	board.Taken[p.Channel] = at
	board.Channels = max(board.Channels, p.Channel+1)
	r.wholly(board, at, "frequency", c.Frequency, &board.Hertz)
	r.wholly(board, at, "oscillator", c.Oscillator, &board.Oscillator)
	board.Crc = board.Crc || c.CRC
	r.gate(at, board, c.OutputEnable)
	p.Board = board
	p.Calibration = calibrated(r, at, c.Calibration, "a calibration file of this channel, since the joint is real",
		body, calibration.LoadPulse,
		fmt.Sprintf("%s channel %d", c.Device, *c.Channel), func(p *calibration.Pulse) string {
			return fmt.Sprintf("%s channel %d", p.Device.Model, p.Device.Channel)
		})
	return p
}

// Board is the one that c is a channel of.
func (r *Resolver) Board(c *configs.Joint, kind *catalog.OutputKind, address int,
	body configs.BodyKind) *catalog.BoardPlan {
	for _, b := range r.devices.Boards {
		if b.Bus == c.Bus && b.Device == c.Device && b.Address == address && b.Body == body {
			return b
		}
	}
	b := &catalog.BoardPlan{Bus: c.Bus, Device: c.Device, Address: address, Body: body, Kind: kind,
		Taken: map[int]configs.Path{}, SetAt: map[string]configs.Path{}}
	r.devices.Boards = append(r.devices.Boards, b)
	return b
}

// wholly reads a setting of a whole board. Several of its channels may have it, if it is the same.
func (r *Resolver) wholly(b *catalog.BoardPlan, at configs.Path, key string, given, to *float64) {
	first, twice := b.SetAt[key]
	switch {
	case given == nil:
	case twice && *given != *to:
		r.fault(at.Key(key), fmt.Sprint(*given), fmt.Sprintf("%g, for the whole board has one", *to),
			fmt.Sprintf("%s sets it", first))
	default:
		*to, b.SetAt[key] = *given, at.Key(key)
	}
}

// pulsed restricts a joint to the modes of a pulse output: position, or the mode of its calibration.
func (r *Resolver) pulsed(at configs.Path, p *JointPlan, j *model.Joint) {
	for m := range j.Modes {
		takes := hal.Mode(m) == hal.PositionMode
		if c := p.Pulses.Calibration; c != nil {
			takes = c.Takes(hal.Mode(m))
		}
		j.Modes[m] = j.Modes[m] && takes
	}
	switch {
	case j.Modes == [hal.NumModes]bool{}:
		r.fault(at.Key("calibration"), p.Hardware.Calibration, "one that drives what the joint has", "")
	case p.Body == configs.Emulated && (j.Servo == nil || !j.Modes[hal.PositionMode]):
		r.fault(at.Key("device"), p.Hardware.Device,
			"a joint with a servo in its robot file and positions, to be emulated", "")
	}
}

// thrusters resolves the outputs of the thrusters of a vehicle with layout l.
func (r *Resolver) thrusters(path configs.Path, c *configs.Agent, l *hal.Layout) []JointPlan {
	plans := make([]JointPlan, len(l.Actuators))
	for i := range l.Actuators {
		name := l.Actuators[i].Name
		p, at := &plans[i], path.Key("hardware").Key("joints").Key(name)
		if p.Body = c.BodyOf(name); p.Body != c.Body {
			r.fault(path.Key("parts").Key(name), string(p.Body), string(c.Body)+", as the other thrusters", "")
		}
		p.Hardware = c.Joint(name)
		switch {
		case p.Hardware == nil && p.Body != configs.Sim:
			r.fault(at, "none", fmt.Sprintf("the channel of %s, which is %s", name, p.Body), "")
		case p.Hardware == nil:
		case p.Hardware.Device == "":
			r.fault(at.Key("model"), p.Hardware.Model, "no servo: a thruster has device and channel", "")
		default:
			p.Pulses = r.pulses(at, p.Hardware, p.Body)
		}
	}
	return plans
}
