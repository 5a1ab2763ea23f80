// Package replay repeats a recording: the same drivers, guards and bodies, fed with what was asked then and with the
// bytes that real lines answered, and compares every cycle. Nothing real is opened.
package replay

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/servo"
)

// maxDropped bounds the cycles without messages, which are run all the same.
const maxDropped = 1 << 20

// Options are what is otherwise than in the recording.
type Options struct {
	Catalog *catalog.Catalog
	Log     *slog.Logger
	Set     []string          // --set, after those of the recording
	Body    string            // of every agent; "" = as recorded
	Files   map[string][]byte // in place of attached files, by name: another calibration
}

// Result is what came of a replay.
type Result struct {
	Info        record.Info
	Cycles      uint64 // that were compared
	Different   uint64 // of these
	Dropped     uint64 // cycles that the recording does not have
	Cut         string // why the file ends early; "" of a whole one
	Divergences []record.Divergence
	comparison  record.Comparison
}

// RMS of a divergence is over all cycles that were compared.
func (r *Result) RMS(d *record.Divergence) float64 { return r.comparison.RMS(d) }

// Run repeats the recording that in is. The error is of kind Invalid where in is no recording that can be repeated, and
// of kind Unsafe where it is of real devices whose answers it does not have.
func Run(in io.Reader, o Options) (*Result, error) {
	file, err := record.NewReader(in)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.Info.First != 1 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "replay",
			Err: fmt.Errorf("got a recording from cycle %d on, want a recording from the first cycle", file.Info.First),
			Try: "halyard serve --set record.file=FILE, which records from the first"}
	}
	dir, err := os.MkdirTemp("", "halyard-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cfg, err := configOf(&file.Info, dir, &o)
	if err != nil {
		return nil, err
	}
	p, err := plan.Resolve(cfg, o.Catalog)
	if err != nil {
		return nil, err
	}
	// The first cycle comes before the system: its lines have been used while it was built.
	first, err := nextCycle(file)
	if err != nil && err != io.EOF {
		return nil, err
	}
	r := &run{Result: Result{Info: file.Info}, played: map[string]*record.Playback{}}
	taps := &record.Taps{}
	p.Replay = true
	p.Tap = func(bus string, kind configs.BodyKind, open servo.Opener) servo.Opener {
		name := taps.Name(bus)
		if kind == configs.Real {
			played := record.NewPlayback(name, p.Config.Buses[bus].Baud)
			r.played[record.LineTopic(name)], open = played, played.Open
			if first != nil {
				r.fault(played.Feed(first.topics[record.LineTopic(name)]))
			}
		}
		return taps.Tap(name, open)
	}
	taps.Listen()
	sys, err := assembly.Build(p, o.Log)
	if err != nil {
		return nil, errors.Join(r.err, err)
	}
	defer sys.Close()
	sys.Rig.BeginReplay()
	capture := record.NewCapture(sys.Rig, taps)
	for c := first; c != nil; {
		if err := errors.Join(r.err, r.repeat(sys.Rig, capture, c)); err != nil {
			return nil, err
		}
		if c, err = nextCycle(file); err != nil && err != io.EOF {
			return nil, err
		}
		if c != nil {
			for topic, played := range r.played {
				r.fault(played.Feed(c.topics[topic]))
			}
		}
	}
	if file.Cut != nil {
		r.Cut = file.Cut.Error()
	}
	r.Cycles, r.Different, r.Divergences = r.comparison.Cycles, r.comparison.Different, r.comparison.Divergences()
	return &r.Result, nil
}

// configOf reads the attached config as it was, or as o changes it.
func configOf(info *record.Info, dir string, o *Options) (*configs.Config, error) {
	a := &configs.Archive{Files: map[string][]byte{}, Options: configs.Options{Set: append(info.Set, o.Set...),
		Body: info.Body, Listen: info.Listen}}
	if o.Body != "" {
		a.Options.Body = o.Body
	}
	for _, f := range info.Attached {
		if f.Name == record.ConfigName {
			a.Config = f.Data
			continue
		}
		a.Files[f.Name] = f.Data
	}
	for name, data := range o.Files {
		if a.Files[name] == nil {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "replay",
				Err: fmt.Errorf("got another file %q, want an attached file: %s", name,
					strings.Join(names(info), ", "))}
		}
		a.Files[name] = data
	}
	if a.Config == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "replay", Err: errors.New("the recording has no config")}
	}
	return a.Extract(dir, info.Source)
}

func names(info *record.Info) (list []string) {
	for _, f := range info.Attached {
		list = append(list, f.Name)
	}
	return list
}

// run is a replay under way.
type run struct {
	Result
	played map[string]*record.Playback // real lines, by topic
	orders []hal.Order                 // not given yet: one that came inside a cycle counts for the next
	done   uint64                      // the last cycle
	missed time.Duration
	err    error
}

func (r *run) fault(err error) {
	if r.err == nil {
		r.err = err
	}
}

// cycle is all messages of one cycle.
type cycle struct {
	end    record.CycleMessage
	orders []hal.Order
	topics map[string][]byte // states and lines
}

// nextCycle reads on to the end of the next cycle; nil at the end of the file.
func nextCycle(file *record.Reader) (*cycle, error) {
	c := &cycle{topics: map[string][]byte{}}
	for {
		m, err := file.Next()
		if err != nil {
			return nil, err
		}
		switch record.TopicOf(m.Topic) {
		case record.CycleTopic:
			c.end, err = record.ParseCycle(m.Data)
			return c, err
		case record.OrderTopic:
			o, err := record.ParseOrder(m.Data)
			if err != nil {
				return nil, err
			}
			c.orders = append(c.orders, o)
		case record.LineTopics, record.StateTopic:
			c.topics[m.Topic] = append([]byte(nil), m.Data...)
		}
	}
}

// repeat runs the cycles up to c and compares c.
func (r *run) repeat(rig *hal.Rig, now *record.Capture, c *cycle) error {
	n := c.end.Number
	switch {
	case n <= r.done:
		return fmt.Errorf("replay: got cycle %d after cycle %d", n, r.done)
	case c.end.LostOrders > 0:
		return &hal.Error{Kind: hal.Invalid, Op: "replay",
			Err: fmt.Errorf("up to cycle %d the recording has lost %d orders", n, c.end.LostOrders)}
	case n-r.done-1 > maxDropped-r.Dropped:
		return &hal.Error{Kind: hal.Invalid, Op: "replay",
			Err: fmt.Errorf("got %d cycles that were dropped before cycle %d, want at most %d in all", n-r.done-1, n,
				maxDropped)}
	case n-r.done > 1 && len(r.played) > 0:
		return &hal.Error{Kind: hal.Invalid, Op: "replay",
			Err: fmt.Errorf("cycles %d to %d were dropped, and with them what real lines answered", r.done+1, n-1)}
	}
	r.Dropped += n - r.done - 1
	r.orders = append(r.orders, c.orders...)
	for k := r.done + 1; k <= n; k++ {
		missed := r.missed
		if k == n {
			missed = time.Duration(c.end.MissedNS)
		}
		for len(r.orders) > 0 && r.orders[0].Cycle <= k {
			if bus := r.orders[0].Bus(); bus != "" {
				r.comparison.Slow(bus)
			}
			if err := rig.Replay(&r.orders[0]); err != nil {
				return err
			}
			r.orders = r.orders[1:]
		}
		if err := rig.ReplayCycle(missed); err != nil {
			return err
		}
		now.Take()
	}
	r.done, r.missed = n, time.Duration(c.end.MissedNS)
	return r.comparison.Compare(n, c.topics, now)
}
