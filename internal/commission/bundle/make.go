package bundle

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Options are those of a report that is made.
type Options struct {
	Config  configs.Options
	Faults  []string // of emulated servos
	Log     []byte   // of a run that failed; its end is kept
	Status  []byte   // of the running rig
	Version string
	Machine Machine
	Note    func(format string, args ...any)
	Catalog *catalog.Catalog
}

// maxLog is how much of the end of a log is kept.
const maxLog = 1 << 20

// Make examines the robot of a config as the doctor does, and keeps all that passes. It moves nothing and writes no
// register. A robot that does not answer, or a port that does not open, is a finding and no error.
func Make(ctx context.Context, nameOrPath string, o Options) (*Report, error) {
	p, err := plan.Load(nameOrPath, o.Config, o.Catalog)
	if err != nil && !doctor.UncalibratedAlone(err) {
		return nil, err
	}
	traffic := NewTraffic(p)
	x, err := doctor.NewExamination(p, o.Config.Body, o.Faults)
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	log.Write(o.Log[max(0, len(o.Log)-maxLog):])
	x.Note = func(format string, args ...any) {
		fmt.Fprintf(&log, "doctor: "+format+"\n", args...)
		o.Note(format, args...)
	}
	tables := map[string]*commission.RegisterFile{}
	x.Dump = func(bus string, f commission.RegisterFile) { tables[fmt.Sprintf("%s-%d", bus, f.ID)] = &f }
	if err := x.Run(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fmt.Fprintf(&log, "doctor: %v\n", err)
	}
	return Of(p, x, traffic, tables, log.Bytes(), o)
}

// Of is the report of an examination that is over.
func Of(p *plan.Plan, x *doctor.Examination, traffic *Traffic, tables map[string]*commission.RegisterFile, log []byte,
	o Options) (*Report, error) {
	a, err := p.Config.Archive(model.FilesOf)
	if err != nil {
		return nil, err
	}
	m := &masker{machine: o.Machine, counts: map[string]int{}}
	source := p.Config.Source
	if base := filepath.Base(source); base != source {
		m.plain = append(m.plain, [2]string{source, base})
	}
	if dir, err := filepath.Abs(p.Config.Dir); err == nil && p.Config.Dir != "" {
		m.plain = append(m.plain, [2]string{dir + string(filepath.Separator), ""})
	}
	r := &Report{About: About{Format: format, Version: o.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Source: m.text(filepath.Base(source)), Body: a.Options.Body, Exit: exitOf(x), Masked: m.counts,
		Buses: map[string]doctor.RecordedBus{}},
		Config: m.data(a.Config), Files: map[string][]byte{}, Wire: map[string][]Exchange{}, Registers: tables,
		Log: m.data(log)}
	if o.Status != nil {
		r.Status = m.data(o.Status)
	}
	for _, s := range a.Options.Set {
		r.Set = append(r.Set, m.text(s))
	}
	for _, s := range a.Absent {
		r.Absent = append(r.Absent, m.text(s))
	}
	for _, name := range a.Names() {
		r.Files[m.text(name)] = m.data(a.Files[name])
	}
	for _, f := range x.Found {
		f.Found, f.Fix = m.text(f.Found), m.text(f.Fix)
		r.Findings = append(r.Findings, f)
	}
	for name, k := range traffic.buses {
		met := k.met
		met.Dropped = k.dropped
		r.Buses[name] = met
		for i := range k.list {
			k.list[i].mask(m)
		}
		r.Wire[name] = k.list
	}
	return r, nil
}

func exitOf(x *doctor.Examination) int {
	note := x.Note
	x.Note = func(string, ...any) {}
	defer func() { x.Note = note }()
	if err := x.Verdict(false); err != nil {
		return int(hal.KindOf(err)) + 1
	}
	return 0
}

// mask leaves names out of the errors of e. Bytes stay as they were.
func (e *Exchange) mask(m *masker) {
	list := []*Fault{e.Fault}
	for _, p := range e.Answer {
		list = append(list, p.Fault)
	}
	for _, f := range list {
		if f != nil {
			f.Bus, f.Text, f.Try = m.text(f.Bus), m.text(f.Text), m.text(f.Try)
		}
	}
}

// Differences lists the findings that one of two examinations alone has, those of the report with "-".
func Differences(reported, now []doctor.Finding) (list []string) {
	count := map[string]int{}
	line := func(f doctor.Finding) string { return strings.Join(report.Texts(f.Cells()), " | ") }
	for _, f := range now {
		count[line(f)]++
	}
	for _, f := range reported {
		if k := line(f); count[k] > 0 {
			count[k]--
		} else {
			list = append(list, "- "+k)
		}
	}
	for _, f := range now {
		if k := line(f); count[k] > 0 {
			count[k]--
			list = append(list, "+ "+k)
		}
	}
	return list
}
