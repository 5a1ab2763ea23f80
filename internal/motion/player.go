package motion

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/sim/model"
)

const (
	leadIn     = 1500 * time.Millisecond // to reach the first pose, before the error is counted
	leadInStep = 20 * time.Millisecond
	astray     = 0.2 // rad; mean error above which a joint does not follow
)

// Tracking is the tracking error of one joint.
type Tracking struct {
	Joint string        `json:"joint"`
	RMS   report.Number `json:"rms_rad"`
	Max   report.Number `json:"max_rad"`
}

func (t Tracking) Cells() report.Cells {
	return report.Cells{{"joint", t.Joint}, {"rms rad", t.RMS}, {"max rad", t.Max}}
}

// Player plays one motion to an ODCP server and measures the tracking error of its robot.
type Player struct {
	Protocol, Address string
	Model             string  // the robot, for names and ranges; "": the only one with as many joints
	Speed             float64 // times the recorded pace
	Note              func(format string, args ...any)

	client *odcp.Client
	motion *Motion
	joints []jointError
	goal   []int32 // as sent last
	limit  []int32
	sent   hash.Hash
	count  int
}

// jointError sums one joint's errors.
type jointError struct {
	name           string
	min, max       float64 // rad of 0 and 1023
	n              int
	squares, worst float64
}

// Run plays the motion called name, or of that file, until its end or that of ctx.
func (p *Player) Run(ctx context.Context, name string) ([]Tracking, error) {
	switch {
	case p.Protocol != "odcp":
		return nil, &hal.Error{Kind: hal.Invalid, Op: "--protocol", Err: fmt.Errorf("got %q, want odcp", p.Protocol)}
	case !(p.Speed > 0 && p.Speed <= 1000):
		return nil, &hal.Error{Kind: hal.Invalid, Op: "--speed",
			Err: fmt.Errorf("got %g, want above 0 and at most 1000", p.Speed)}
	}
	// errors of the command line come first, before any connection
	if p.Model != "" {
		if _, err := model.Open(p.Model, p.Model); err != nil {
			return nil, err
		}
	}
	err := KnownMotion(name)
	if err != nil {
		return nil, err
	}
	if p.client, err = odcp.Open(p.Address, odcp.ClientOptions{}); err != nil {
		return nil, err
	}
	defer p.client.Close()
	if err := p.client.Connect(); err != nil {
		return nil, &hal.Error{Kind: hal.Timeout, Op: "play: connect to " + p.Address, Err: err, Try: "halyard serve"}
	}
	defer p.client.Disconnect()
	seen, err := p.client.Get()
	if err != nil {
		return nil, &hal.Error{Kind: hal.Timeout, Op: "play: ask " + p.Address + " for its joints", Err: err,
			Try: "halyard serve"}
	}
	n := len(seen)
	if p.motion, err = OpenMotion(name, n); err != nil {
		return nil, err
	}
	if p.motion.Joints != n {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "play " + name,
			Err: fmt.Errorf("joints: the motion has %d, the server's robot %d", p.motion.Joints, n)}
	}
	if err := p.names(n); err != nil {
		return nil, err
	}
	p.Note("playing %s: %d samples, %d joints, at %gx, into %s", name, len(p.motion.Samples), p.motion.Joints, p.Speed,
		p.Address)
	if err := p.play(ctx); err != nil {
		return nil, err
	}
	p.Note("%d set datagrams, sha256 %x", p.count, p.sent.Sum(nil)[:8])
	rows := p.results()
	for _, r := range rows {
		if r.RMS > astray {
			p.Note("tracking error too large (try: halyard status)")
			break
		}
	}
	return rows, nil
}

// names finds the robot of the server's joints, for their names and the angles of 0 and 1023. The protocol does not
// identify it: without --model it must be the only robot with that number of joints.
func (p *Player) names(n int) error {
	fits := RobotsOf(n)
	if p.Model != "" {
		fits = []string{p.Model}
	}
	if len(fits) == 1 {
		robot, err := model.Open(fits[0], fits[0])
		if err != nil {
			return err
		}
		if len(robot.Joints) != n {
			return &hal.Error{Kind: hal.Invalid, Op: "--model " + p.Model,
				Err: fmt.Errorf("joints: the server's robot has %d", n)}
		}
		for _, j := range robot.Joints {
			p.joints = append(p.joints, jointError{name: j.Name, min: j.Range[0], max: j.Range[1]})
		}
		return nil
	}
	if len(fits) > 1 {
		p.Note("%s have %d joints: --model NAME gives them their names and ranges", strings.Join(fits, ", "), n)
	}
	for i := range n { // one of them, or a robot of its owner's: motors by number, over the original's ±150 degrees
		p.joints = append(p.joints, jointError{name: fmt.Sprintf("motor_%d", i+1), min: -150 * math.Pi / 180,
			max: 150 * math.Pi / 180})
	}
	return nil
}

// play sends every sample at its time. The measurement just before a sample belongs to the previous sample.
func (p *Player) play(ctx context.Context) error {
	n := p.motion.Joints
	p.goal, p.limit, p.sent = make([]int32, n), make([]int32, n), sha256.New()
	clock := hal.WallClock()
	first := p.motion.Samples[0]
	for t := time.Duration(0); t < leadIn; t += leadInStep {
		clock.SleepUntil(t)
		if err := p.send(ctx, &first, false); err != nil {
			return err
		}
	}
	start := clock.Now()
	for i := range p.motion.Samples {
		s := &p.motion.Samples[i]
		clock.SleepUntil(start + time.Duration(float64(s.At-first.At)/p.Speed))
		if err := p.measure(s); err != nil {
			return err
		}
		if err := p.send(ctx, s, true); err != nil {
			return err
		}
	}
	return nil
}

// send sends s; counted samples are part of the digest of the client's commands.
func (p *Player) send(ctx context.Context, s *Sample, counted bool) error {
	if err := context.Cause(ctx); err != nil {
		return errors.Join(context.Canceled, err)
	}
	for i := range p.goal {
		p.goal[i], p.limit[i] = odcp.Angle(s.Angle[i]), odcp.Torque(s.Torque[i]) // a missing torque counts as 0
	}
	if counted {
		p.count++
		fmt.Fprintln(p.sent, p.goal, p.limit)
	}
	return p.client.Set(p.goal, p.limit)
}

// measure compares the joints' positions with the last sample sent.
func (p *Player) measure(s *Sample) error {
	seen, err := p.client.Get()
	if err != nil {
		return &hal.Error{Kind: hal.Timeout, Op: "play: ask for the joints", Err: err, Try: "halyard status"}
	}
	for i := range p.joints {
		if j := &p.joints[i]; s.Torque[i] >= 0 {
			e := float64(seen[i]-p.goal[i]) / odcp.Greatest * (j.max - j.min)
			j.n++
			j.squares += e * e
			j.worst = math.Max(j.worst, math.Abs(e))
		}
	}
	return nil
}

func (p *Player) results() []Tracking {
	var rows []Tracking
	for _, j := range p.joints {
		if j.n > 0 {
			rows = append(rows, Tracking{j.name, report.Number(math.Sqrt(j.squares / float64(j.n))),
				report.Number(j.worst)})
		}
	}
	return rows
}

// RobotsOf lists the built-in robots with n joints.
func RobotsOf(n int) (names []string) {
	for _, name := range model.Names() {
		if r, err := model.Load(name); err == nil && len(r.Joints) == n {
			names = append(names, name)
		}
	}
	return names
}
