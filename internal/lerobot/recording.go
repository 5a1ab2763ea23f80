package lerobot

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/teleop"
)

// Recording is the episodes of a recording.
type Recording struct {
	File     string
	Episodes []teleop.Episode
	Agents   []string // that were commanded in them, in order

	layouts map[string]record.Layout
	seen    map[string]bool // topics with a JPEG
	started time.Time
	period  float64
	exact   bool // in lock-step no time passes in a period that the rig missed
}

// Open reads the marks of a recording. The error is of kind Invalid.
func Open(file string) (*Recording, error) {
	r := &Recording{File: file, seen: map[string]bool{}}
	var marks teleop.Episodes
	asked := map[string][]uint64{} // the cycles of commands
	err := r.each(func(m record.Message) error {
		if record.TopicOf(m.Topic) != record.OrderTopic {
			if head := m.Data[:min(len(m.Data), 512)]; bytes.Contains(head, []byte(`"format":"jpeg"`)) {
				r.seen[m.Topic] = true
			}
			return nil
		}
		o, err := record.ParseOrder(m.Data)
		if err != nil {
			return err
		}
		switch {
		case o.Kind == hal.SetOrder && o.Name == teleop.EpisodeValue:
			marks.Mark(o.Value.Text, o.Cycle) // what was refused then is refused now
		case o.Kind == hal.CommandOrder || o.Kind == hal.OverrideOrder:
			if n := len(asked[o.Agent]); n == 0 || asked[o.Agent][n-1] != o.Cycle {
				asked[o.Agent] = append(asked[o.Agent], o.Cycle)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fault(file, err)
	}
	r.Episodes = marks.List
	if marks.Running() != nil { // without an end
		r.Episodes = r.Episodes[:len(r.Episodes)-1]
	}
	for agent, cycles := range asked {
		if slices.ContainsFunc(r.Episodes, func(e teleop.Episode) bool {
			i, _ := slices.BinarySearch(cycles, e.From)
			return i < len(cycles) && cycles[i] < e.To
		}) {
			r.Agents = append(r.Agents, agent)
		}
	}
	slices.Sort(r.Agents)
	return r, nil
}

func fault(file string, err error) error {
	if e := (*hal.Error)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return &hal.Error{Kind: hal.Invalid, Op: "read " + file, Err: err}
}

// each calls f with every message. A truncated file ends where it is cut.
func (r *Recording) each(f func(record.Message) error) error {
	in, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer in.Close()
	d, err := record.NewReader(in)
	if err != nil {
		return err
	}
	defer d.Close()
	if r.layouts = d.Info.Layouts; r.layouts == nil {
		return errors.New("got a recording without layouts, want one of this version of Halyard or later")
	}
	r.started, r.period = d.Info.Started, d.Info.Period.Seconds()
	r.exact = d.Info.Clock == "lockstep"
	for {
		m, err := d.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(m)
		}
		if err != nil {
			return err
		}
	}
}

// joint is one joint of the data set.
type joint struct {
	agent string
	record.Joint
}

// sample is one cycle of an episode: a value a joint, NaN = unknown.
type sample struct {
	time                  float64 // s, with the periods that the rig missed
	asked, sent, measured []float64
}

// shot is a picture of a camera.
type shot struct {
	time float64
	data []byte
}

// take is what a recording has of one episode.
type take struct {
	teleop.Episode
	samples []sample
	shots   [][]shot // by camera, in order of time
	lost    uint64   // orders
	dropped uint64   // cycles
}

const (
	// settle is how long after an episode its last pictures are waited for, lead how long before it the first one is
	// kept, s.
	settle = 2.0
	lead   = 1.0
	// maxTake bounds the pictures of an episode.
	maxTake = 2 << 30
)

// reading is one pass over a recording.
type reading struct {
	*Recording
	joints  []joint
	cameras []string // topics
	use     func(*take) error

	asked   []float64           // a joint
	pending map[string][]order  // commands that do not count yet, by agent
	states  map[string][]byte   // of the cycle under way, by agent
	open    []*take             // not used yet, in order
	next    int                 // the first episode that has not begun
	recent  map[string][]shot   // of the last lead, by topic
	inputs  map[string][]int    // a joint of the agent: its input
	places  map[string][]int    // and its index in joints
	last    *sample             // what was asked in answer to it is not known yet
	now     record.CycleMessage // of the last cycle
	bytes   int
}

// topicOf is the topic of the pictures of a camera, AGENT/CAMERA.
func topicOf(camera string) string { return "/" + camera + "/compressed" }

type order struct {
	cycle  uint64
	inputs []float64
}

// read calls use with each episode, in order.
func (r *Recording) read(joints []joint, cameras []string, use func(*take) error) error {
	p := &reading{Recording: r, joints: joints, use: use, asked: make([]float64, len(joints)),
		pending: map[string][]order{}, states: map[string][]byte{}, recent: map[string][]shot{},
		inputs: map[string][]int{}, places: map[string][]int{}}
	for _, c := range cameras {
		p.cameras = append(p.cameras, topicOf(c))
	}
	hal.FillNaN(p.asked)
	for i, j := range joints {
		p.inputs[j.agent] = append(p.inputs[j.agent], j.Goal)
		p.places[j.agent] = append(p.places[j.agent], i)
	}
	if err := r.each(p.message); err != nil {
		return fault(r.File, err)
	}
	return p.flush(math.Inf(1))
}

func (p *reading) message(m record.Message) error {
	switch record.TopicOf(m.Topic) {
	case record.OrderTopic:
		o, err := record.ParseOrder(m.Data)
		if err == nil && o.Inputs != nil && p.places[o.Agent] != nil {
			p.pending[o.Agent] = append(p.pending[o.Agent], order{o.Cycle, o.Inputs})
		}
		return err
	case record.StateTopic:
		agent := strings.TrimSuffix(strings.TrimPrefix(m.Topic, "/"), "/state")
		if p.places[agent] != nil {
			p.states[agent] = append(p.states[agent][:0], m.Data...)
		}
	case record.CycleTopic:
		var c record.CycleMessage
		if err := json.Unmarshal(m.Data, &c); err != nil {
			return err
		}
		return p.cycle(c)
	case record.OtherTopic:
		if i := slices.Index(p.cameras, m.Topic); i >= 0 {
			return p.picture(i, m)
		}
	}
	return nil
}

// cycle ends a cycle.
func (p *reading) cycle(c record.CycleMessage) error {
	for agent, list := range p.pending {
		rest := list[:0]
		for _, o := range list {
			if o.cycle > c.Number {
				rest = append(rest, o)
				continue
			}
			for k, in := range p.inputs[agent] {
				if in < len(o.inputs) && !math.IsNaN(o.inputs[in]) {
					p.asked[p.places[agent][k]] = o.inputs[in]
				}
			}
		}
		p.pending[agent] = rest
	}
	if p.exact {
		c.MissedNS = 0
	}
	now := c.Time + float64(c.MissedNS)/1e9
	for p.next < len(p.Episodes) && p.Episodes[p.next].From <= c.Number {
		t := &take{Episode: p.Episodes[p.next], shots: make([][]shot, len(p.cameras)), lost: c.LostOrders,
			dropped: c.Dropped}
		for i, topic := range p.cameras {
			t.shots[i] = slices.Clone(p.recent[topic])
		}
		p.open = append(p.open, t)
		p.next++
	}
	var t *take // the one that this cycle is in
	if n := len(p.open); n > 0 && c.Number < p.open[n-1].To {
		t = p.open[n-1]
		t.dropped += c.Dropped - p.now.Dropped
		if len(t.samples) == 0 {
			t.dropped = 0
		}
	}
	if t != nil || p.last != nil {
		if err := p.sample(t, now); err != nil {
			return err
		}
	}
	p.now = c
	return p.flush(now)
}

// sample adds the state of this cycle to t, if that is not nil, and completes the one before.
func (p *reading) sample(t *take, now float64) error {
	s := sample{now, slices.Repeat([]float64{math.NaN()}, len(p.joints)), nil, nil}
	s.sent, s.measured = slices.Clone(s.asked), slices.Clone(s.asked)
	sent := slices.Clone(s.asked)
	for agent, places := range p.places {
		var state struct {
			Inputs   map[string]json.RawMessage `json:"inputs"`
			Measured map[string]json.RawMessage `json:"measured"`
		}
		if p.states[agent] == nil {
			continue
		}
		if err := json.Unmarshal(p.states[agent], &state); err != nil {
			return fmt.Errorf("state of %s: %w", agent, err)
		}
		for _, i := range places {
			sent[i] = position(state.Inputs[p.joints[i].Name])
			s.measured[i] = position(state.Measured[p.joints[i].Name])
		}
	}
	if p.last != nil {
		copy(p.last.asked, p.asked)
		copy(p.last.sent, sent)
		p.last = nil
	}
	if t != nil {
		t.samples = append(t.samples, s)
		p.last = &t.samples[len(t.samples)-1] // valid until the next one is added, which completes it first
	}
	return nil
}

// position is the value position of the channels of a joint.
func position(text json.RawMessage) float64 {
	var v struct {
		Position *float64 `json:"position"`
	}
	if json.Unmarshal(text, &v) != nil || v.Position == nil {
		return math.NaN()
	}
	return *v.Position
}

func (p *reading) picture(camera int, m record.Message) error {
	var image struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	}
	if err := json.Unmarshal(m.Data, &image); err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	if image.Format != "jpeg" {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(image.Data)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	at := time.Duration(int64(m.Time)-p.started.UnixNano()).Seconds() + float64(p.now.MissedNS)/1e9
	s := shot{at, data}
	list := append(p.recent[m.Topic], s)
	for len(list) > 1 && list[1].time < at-lead {
		list = list[1:]
	}
	p.recent[m.Topic] = slices.Clone(list)
	for _, t := range p.open {
		if len(t.samples) > 0 && t.Outcome != "" && p.now.Number >= t.To && at > t.samples[len(t.samples)-1].time {
			continue
		}
		if t.shots[camera] = append(t.shots[camera], s); p.bytes > maxTake {
			return fmt.Errorf("episode %q: got more than %d bytes of pictures", t.Task, maxTake)
		}
		p.bytes += len(data)
	}
	return nil
}

// flush uses the episodes that have all they get at a time.
func (p *reading) flush(now float64) error {
	for len(p.open) > 0 {
		t := p.open[0]
		n := len(t.samples)
		if !math.IsInf(now, 1) && (p.now.Number < t.To || n > 0 && now < t.samples[n-1].time+settle) {
			return nil
		}
		t.lost = p.now.LostOrders - t.lost
		for _, list := range t.shots {
			slices.SortStableFunc(list, func(a, b shot) int { return int(math.Copysign(1, a.time-b.time)) })
		}
		p.open, p.bytes = p.open[1:], 0
		if n > 0 && p.last == &t.samples[n-1] { // the recording ends with it
			p.last = nil
			copy(t.samples[n-1].asked, p.asked)
			copy(t.samples[n-1].sent, p.asked)
		}
		if err := p.use(t); err != nil {
			return err
		}
	}
	return nil
}
