package dashboard

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	maxTraced   = 64               // channels of a rig that are kept at a time
	traceLength = 1 << 15          // samples of each: 2.7 minutes at 200 Hz
	traceIdle   = 60 * time.Second // after the last request for it a channel is dropped
	traceSample = 12               // bytes
)

// point is the value of a channel at a rig time, s.
type point struct {
	time  float64
	value float32
}

func (p *point) unknown() bool { return p.value != p.value } // NaN

// trace is the newest samples of one channel.
type trace struct {
	agent, channel string // a measured channel; or JOINT/goal
	asked          time.Time
	of             *hal.Agent // whose layout index is of
	index          int        // of the measured values; -2 - i is the goal of joint i, hal.None is gone
	ring           [traceLength]point
	count          int
}

// tracer keeps the channels of a rig that pages ask for, at the rig's rate. A cycle signals its end, and the goroutine
// of run reads the agents: no cycle waits for it. A cycle that ends before the previous one was read leaves a gap.
type tracer struct {
	active atomic.Bool
	ended  chan struct{}

	mu   sync.Mutex // never held while an agent is called
	list []*trace
}

// run reads the agents after each cycle while a channel is asked for.
func (t *tracer) run(ctx context.Context, rig *hal.Rig) {
	for {
		select {
		case <-t.ended:
			t.sample(rig, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// sample adds the values of the last cycle.
func (t *tracer) sample(rig *hal.Rig, now time.Time) {
	t.mu.Lock()
	t.drop(now)
	list := slices.Clone(t.list)
	t.mu.Unlock()
	var measured []float64
	var goals []hal.Goal
	var status []hal.Status
	for i := 0; i < len(list); {
		agent, end := rig.Agent(list[i].agent), i+1
		for end < len(list) && list[end].agent == list[i].agent {
			end++
		}
		if agent != nil {
			measured, goals, status = agent.Measured(measured), agent.Goals(goals), agent.Status(status)
			at := newest(status).Seconds()
			t.mu.Lock()
			for _, c := range list[i:end] {
				if c.of != agent {
					c.of, c.index = agent, indexOf(agent.Layout(), c.channel)
				}
				v := math.NaN()
				switch {
				case c.index >= 0:
					v = measured[c.index]
				case c.index < hal.None:
					v = goals[-2-c.index].Value
				}
				c.add(point{at, float32(v)})
			}
			t.mu.Unlock()
		}
		i = end
	}
}

// drop ends the channels that no page has asked for lately. Under the lock.
func (t *tracer) drop(now time.Time) {
	t.list = slices.DeleteFunc(t.list, func(c *trace) bool { return now.Sub(c.asked) > traceIdle })
	t.active.Store(len(t.list) > 0)
}

// add appends a sample. Time that began again empties the trace.
func (c *trace) add(p point) {
	if c.count > 0 {
		last := c.ring[(c.count-1)%traceLength].time
		if p.time == last {
			return
		}
		if p.time < last {
			c.count = 0
		}
	}
	c.ring[c.count%traceLength] = p
	c.count++
}

// indexOf finds a measured channel, or JOINT/goal; see trace.index.
func indexOf(l *hal.Layout, channel string) int {
	if joint, ok := strings.CutSuffix(channel, "/goal"); ok {
		if i := l.Actuator(joint); i != hal.None {
			return -2 - i
		}
	}
	for i := range len(l.Outputs) + len(l.Infos) {
		if l.Measured(i).Name == channel {
			return i
		}
	}
	return hal.None
}

// since returns the samples of a channel after a time, and keeps the channel from now on. More than most of them are
// thinned out: the least and the greatest of each run stay.
func (t *tracer) since(agent, channel string, after float64, most int, now time.Time) ([]point, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(now) // also while no cycle passes
	i, found := slices.BinarySearchFunc(t.list, trace{agent: agent, channel: channel}, func(a *trace, b trace) int {
		return cmp.Or(strings.Compare(a.agent, b.agent), strings.Compare(a.channel, b.channel))
	})
	if !found {
		if len(t.list) >= maxTraced {
			return nil, fmt.Errorf("trace %s/%s: got more than %d channels, want fewer", agent, channel, maxTraced)
		}
		t.list = slices.Insert(t.list, i, &trace{agent: agent, channel: channel})
	}
	c := t.list[i]
	c.asked = now
	t.active.Store(true)
	var out []point
	for k := max(0, c.count-traceLength); k < c.count; k++ {
		if p := c.ring[k%traceLength]; p.time > after {
			out = append(out, p)
		}
	}
	return thin(out, most), nil
}

// thin returns at most about most of points: of each run of them the least and the greatest in their order.
func thin(points []point, most int) []point {
	if len(points) <= most {
		return points
	}
	run := (2*len(points) + most - 1) / most
	out := make([]point, 0, most+2)
	for part := range slices.Chunk(points, run) {
		low, high := 0, 0
		for i, p := range part {
			if p.value < part[low].value || part[low].unknown() {
				low = i
			}
			if p.value > part[high].value || part[high].unknown() {
				high = i
			}
		}
		out = append(out, part[min(low, high)])
		if low != high {
			out = append(out, part[max(low, high)])
		}
	}
	return out
}

// trace answers with the newest samples of channels: ?rig=0&channel=AGENT/CHANNEL, again for each, &after= their rig
// time, s, &most= samples of each. Binary, little-endian: for each channel u32 count, then count × (f64 s, f32 value).
func (s *Server) trace(w http.ResponseWriter, r *http.Request) {
	shown, q := s.rig(r), r.URL.Query()
	after, err := strconv.ParseFloat(cmp.Or(q.Get("after"), "-1"), 64)
	most, err2 := strconv.Atoi(cmp.Or(q.Get("most"), strconv.Itoa(traceLength)))
	if shown == nil || cmp.Or(err, err2) != nil || most < 2 {
		http.Error(w, "trace: want rig, channel, after (s) and most (2 or more)", http.StatusBadRequest)
		return
	}
	var b []byte
	for _, name := range q["channel"] {
		agent, channel, _ := strings.Cut(name, "/")
		a := s.sampler.find(slices.Index(s.sampler.rigs, shown), agent)
		if a == nil || indexOf(a.agent.Layout(), channel) == hal.None {
			http.Error(w, fmt.Sprintf("trace: got %.80q, want AGENT/CHANNEL of the layout", name), http.StatusNotFound)
			return
		}
		points, err := shown.tracer.since(agent, channel, after, most, time.Now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		b = binary.LittleEndian.AppendUint32(slices.Grow(b, 4+traceSample*len(points)), uint32(len(points)))
		for _, p := range points {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.time))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.value))
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(b)
}
