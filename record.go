package halyard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/replay"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/model"
)

// RecordStats counts the written and the dropped data of a recording.
type RecordStats = record.Stats

// Recording is a recording of a System under way; see docs/record.md.
type Recording struct {
	system *System
	inner  *record.Recording
	blind  func() // ends the recording of cameras
}

// Record writes every cycle from the next one on into w, an MCAP file, until Stop: commands, measurements, states,
// clients' requests, and the bytes of every line. If w blocks in real time, cycles are dropped and counted, without an
// effect on the robot. Only one recording can run: the error is hal.Busy.
func (s *System) Record(w io.Writer) (*Recording, error) {
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	if s.recording != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "record " + s.sys.Rig.Name(),
			Err: errors.New("the rig is being recorded already")}
	}
	info, err := s.recordInfo()
	if err != nil {
		return nil, err
	}
	inner, err := record.Start(s.sys.Rig, s.taps, w, *info, s.sys.Log)
	if err != nil {
		return nil, err
	}
	s.recording = &Recording{s, inner, func() {}}
	if s.sys.Plan.Config.Record.Pictures {
		s.recording.blind = s.sys.WatchCameras(s.sys.Plan.Config.Record.PictureRate, inner.Picture)
	}
	return s.recording, nil
}

// attached are the files that a recording would have attached.
func (s *System) attached() ([]string, error) {
	a, err := s.sys.Plan.Config.Archive(model.FilesOf)
	if err != nil {
		return nil, err
	}
	return append([]string{record.ConfigName}, a.Names()...), nil
}

// recordInto is control's.
func (s *System) recordInto(w io.Writer) (stop func() error, err error) {
	r, err := s.Record(w)
	if err != nil {
		return nil, err
	}
	return func() error { _, err := r.Stop(); return err }, nil
}

// Stats are those until now.
func (r *Recording) Stats() RecordStats { return r.inner.Stats() }

// Stop ends the recording and completes the file, which stays open. The error is the first failed write. A second call
// has no effect.
func (r *Recording) Stop() (RecordStats, error) {
	r.system.recordMu.Lock()
	defer r.system.recordMu.Unlock()
	if r.system.recording != r {
		return r.inner.Stats(), nil
	}
	r.system.recording = nil
	r.blind()
	return r.inner.Stop()
}

// recordInfo describes the system in a recording.
func (s *System) recordInfo() (*record.Info, error) {
	c := s.sys.Plan.Config
	a, err := c.Archive(model.FilesOf)
	if err != nil {
		return nil, err
	}
	var stats hal.Stats
	s.sys.Rig.Stats(&stats)
	info := &record.Info{Version: version(), Rig: c.Name, Clock: s.sys.Rig.Mode().String(), Period: c.Clock.Period,
		Seed:    c.World.Seed,
		Started: time.Now().Add(-stats.Time), First: stats.Cycles + 1, Source: c.Source, Set: a.Options.Set,
		Body: a.Options.Body, Listen: a.Options.Listen,
		Absent: a.Absent, Attached: []record.File{{Name: record.ConfigName, Data: a.Config}}}
	for _, name := range a.Names() {
		info.Attached = append(info.Attached, record.File{Name: name, Data: a.Files[name]})
	}
	return info, nil
}

// version is that of the program, by its build.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "" {
		return "unknown"
	}
	return b.Main.Version
}

// recordFile starts the recording of the config. An existing file is kept under another name.
func (s *System) recordFile() error {
	c := s.sys.Plan.Config
	name := c.Resolve(c.Record.File)
	if old, err := os.Stat(name); err == nil {
		suffix := filepath.Ext(name)
		kept := strings.TrimSuffix(name, suffix) + "-" + old.ModTime().UTC().Format("20060102-150405.000") + suffix
		if err := os.Rename(name, kept); err != nil {
			return &hal.Error{Kind: hal.Busy, Op: "record", Err: err}
		}
	}
	f, err := openRecord(name, c.Record.Ring)
	if err != nil {
		return &hal.Error{Kind: hal.Busy, Op: "record", Err: err}
	}
	if _, err := s.Record(f); err != nil {
		return errors.Join(err, f.Close())
	}
	s.recorded = f
	return nil
}

func openRecord(name string, ring time.Duration) (io.WriteCloser, error) {
	if ring > 0 {
		return record.NewRing(name, ring)
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// endRecording ends a running recording, of the config or of a client.
func (s *System) endRecording() error {
	s.recordMu.Lock()
	r := s.recording
	s.recordMu.Unlock()
	if r == nil {
		return nil
	}
	stats, err := r.Stop()
	if s.recorded != nil {
		err = errors.Join(err, s.recorded.Close())
	}
	if stats.Dropped+stats.Orders+stats.Ops+stats.Pictures > 0 {
		s.sys.Log.Warn("the recording is not complete", "cycles", stats.Cycles, "dropped_cycles", stats.Dropped,
			"lost_orders", stats.Orders, "lost_line_ops", stats.Ops, "dropped_pictures", stats.Pictures)
	}
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// tap lets p's lines be recorded.
func tap(p *plan.Plan) *record.Taps {
	taps := &record.Taps{}
	p.Tap = func(bus string, _ configs.BodyKind, open servo.Opener) servo.Opener {
		return taps.Tap(taps.Name(bus), open)
	}
	if p.Config.Record.File != "" {
		taps.Listen()
	}
	return taps
}

// ReplayOptions are the changes of a replay against the recording.
type ReplayOptions struct {
	Set   []string          // "agents[0].guard.slew=0.5", after those of the recording
	Body  string            // of every agent: "sim" lets a simulated robot follow a real one's commands
	Files map[string][]byte // in place of attached files, by name: another calibration
}

// ReplayResult is the result of a replay.
type ReplayResult = replay.Result

// Replay repeats a recording with the same drivers, guards and bodies. Their input is the recorded requests and the
// recorded answers of real lines. It compares every cycle. It opens no real device.
func Replay(in io.Reader, r ReplayOptions, with ...Option) (*ReplayResult, error) {
	o := newOptions(with)
	return replay.Run(in, replay.Options{Catalog: o.catalog, Log: o.log, Set: r.Set, Body: r.Body, Files: r.Files})
}
