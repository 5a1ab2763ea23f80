package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/motion"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/sim/model"
)

const (
	leadIn     = 1500 * time.Millisecond // to reach the first pose, before the error is counted
	leadInStep = 20 * time.Millisecond
	astray     = 0.2 // rad; a joint that is off by so much in the mean does something else than follow
)

// tracking is how well one joint followed.
type tracking struct {
	Joint string        `json:"joint"`
	RMS   report.Number `json:"rms_rad"`
	Max   report.Number `json:"max_rad"`
}

func (tracking) Header() []string { return []string{"joint", "rms rad", "max rad"} }

func (t tracking) Cells() []string { return []string{t.Joint, t.RMS.String(), t.Max.String()} }

func newPlay(a *app) *cobra.Command {
	var p player
	c := &cobra.Command{
		Use:   "play FILE|NAME",
		Short: "play a motion and report tracking error",
		Long: "Plays a recorded motion, or the embedded motion wave, and prints the tracking error of each joint: measured minus\n" +
			"commanded, after the robot has reached the first pose. Joints without a torque in the recording get a torque limit of 0\n" +
			"and are omitted.\n\n" +
			"FILE is text, one sample per line, numbers separated by commas: milliseconds since the start, an angle for each joint\n" +
			"(-1..1 over the motor's range, of most from -150 to 150 degrees), and a torque for each (0..1, below 0 = none given).",
		Example: "  halyard play wave --model so101\n  halyard play nod.txt --model my-robot.yaml --speed 0.5 --address 127.0.0.1:45453",
		Args:    arguments("FILE|NAME", "halyard play wave"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.app = a
			return p.Run(cmd.Context(), args[0])
		},
	}
	c.Flags().StringVar(&p.protocol, "protocol", "odcp", "the protocol to speak")
	c.Flags().StringVar(&p.address, "address", fmt.Sprintf("127.0.0.1:%d", odcp.DefaultPort), "where the server listens")
	c.Flags().Float64Var(&p.speed, "speed", 1, "times the recorded pace")
	c.Flags().StringVar(&p.model, "model", "", "the robot, or its file, for names and ranges; by default the one with as many joints")
	return c
}

// player plays one motion.
type player struct {
	app                      *app
	protocol, address, model string
	speed                    float64

	client *odcp.Client
	motion *motion.Motion
	joints []jointError
	goal   []int32 // as sent last
	limit  []int32
	sent   hash.Hash
	count  int
}

// jointError sums one joint's errors.
type jointError struct {
	name     string
	min, max float64 // rad of 0 and 1023
	n        int
	squares  float64
	worst    float64
}

func (p *player) Run(ctx context.Context, name string) error {
	switch {
	case p.protocol != "odcp":
		return &hal.Error{Kind: hal.Invalid, Op: "--protocol", Err: fmt.Errorf("got %q, want odcp", p.protocol)}
	case !(p.speed > 0 && p.speed <= 1000):
		return &hal.Error{Kind: hal.Invalid, Op: "--speed", Err: fmt.Errorf("got %g, want above 0 and at most 1000", p.speed)}
	}
	// What is wrong with the command is told before anybody is asked.
	if p.model != "" {
		if _, err := model.Open(p.model, p.model); err != nil {
			return err
		}
	}
	err := motion.KnownMotion(name)
	if err != nil {
		return err
	}
	if p.client, err = odcp.Open(p.address, odcp.ClientOptions{}); err != nil {
		return err
	}
	defer p.client.Close()
	if err := p.client.Connect(); err != nil {
		return &hal.Error{Kind: hal.Timeout, Op: "play: connect to " + p.address, Err: err, Try: "halyard serve"}
	}
	defer p.client.Disconnect()
	seen, err := p.client.Get()
	if err != nil {
		return &hal.Error{Kind: hal.Timeout, Op: "play: ask " + p.address + " for its joints", Err: err, Try: "halyard serve"}
	}
	n := len(seen)
	if p.motion, err = motion.OpenMotion(name, n); err != nil {
		return err
	}
	if p.motion.Joints != n {
		return &hal.Error{Kind: hal.Invalid, Op: "play " + name,
			Err: fmt.Errorf("joints: the motion has %d, the server's robot %d", p.motion.Joints, n)}
	}
	if err := p.names(n); err != nil {
		return err
	}
	p.app.note("playing %s: %d samples, %d joints, at %gx, into %s", name, len(p.motion.Samples), p.motion.Joints, p.speed, p.address)
	if err := p.Play(ctx); err != nil {
		return err
	}
	p.app.note("%d set datagrams, sha256 %x", p.count, p.sent.Sum(nil)[:8])
	rows := p.results()
	for _, r := range rows {
		if r.RMS > astray {
			p.app.note("tracking error too large (try: halyard status)")
			break
		}
	}
	return show(p.app, rows)
}

// names finds the robot that the server's joints belong to, for their names and the angles of 0 and 1023. The protocol does
// not say which it is: without --model it must be the only one with so many joints.
func (p *player) names(n int) error {
	fits := robotsOf(n)
	if p.model != "" {
		fits = []string{p.model}
	}
	if len(fits) == 1 {
		robot, err := model.Open(fits[0], fits[0])
		if err != nil {
			return err
		}
		if len(robot.Joints) != n {
			return &hal.Error{Kind: hal.Invalid, Op: "--model " + p.model, Err: fmt.Errorf("joints: the server's robot has %d", n)}
		}
		for _, j := range robot.Joints {
			p.joints = append(p.joints, jointError{name: j.Name, min: j.Range[0], max: j.Range[1]})
		}
		return nil
	}
	if len(fits) > 1 {
		p.app.note("%s have %d joints: --model NAME gives them their names and ranges", strings.Join(fits, ", "), n)
	}
	for i := range n { // one of them, or a robot of its owner's: motors by number, over the original's ±150 degrees
		p.joints = append(p.joints, jointError{name: fmt.Sprintf("motor_%d", i+1), min: -150 * math.Pi / 180, max: 150 * math.Pi / 180})
	}
	return nil
}

// Play sends every sample at its time. What is measured just before a sample answers the one before it.
func (p *player) Play(ctx context.Context) error {
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
		clock.SleepUntil(start + time.Duration(float64(s.At-first.At)/p.speed))
		if err := p.Measure(s); err != nil {
			return err
		}
		if err := p.send(ctx, s, true); err != nil {
			return err
		}
	}
	return nil
}

// send sends s; counted samples are part of the digest of what the client said.
func (p *player) send(ctx context.Context, s *motion.Sample, counted bool) error {
	if err := context.Cause(ctx); err != nil {
		return errors.Join(context.Canceled, err)
	}
	for i := range p.goal {
		p.goal[i], p.limit[i] = odcp.Angle(s.Angle[i]), odcp.Torque(s.Torque[i]) // none given counts as 0
	}
	if counted {
		p.count++
		fmt.Fprintln(p.sent, p.goal, p.limit)
	}
	return p.client.Set(p.goal, p.limit)
}

// Measure compares where the joints are with what was sent last.
func (p *player) Measure(s *motion.Sample) error {
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

func (p *player) results() []tracking {
	var rows []tracking
	for _, j := range p.joints {
		if j.n > 0 {
			rows = append(rows, tracking{j.name, report.Number(math.Sqrt(j.squares / float64(j.n))), report.Number(j.worst)})
		}
	}
	return rows
}

// robotsOf lists the built-in robots with n joints.
func robotsOf(n int) (names []string) {
	for _, name := range model.Names() {
		if r, err := model.Load(name); err == nil && len(r.Joints) == n {
			names = append(names, name)
		}
	}
	return names
}
