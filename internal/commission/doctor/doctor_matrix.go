package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// The doctor is proven by a matrix: each fault is injected by itself into a sound robot, on emulated servos and devices
// and, for faults of the machine, on a made-up /sys, /proc and /dev. It must be named by its own check, with its fix,
// and nothing else may complain; robots without a fault must give no finding at all.

// FaultCase is one line of the matrix: a fault, and the finding that the doctor must report.
type FaultCase struct {
	Name   string
	Config string                   // an embedded config, or one of the made-up robots
	set    string                   // PATH=VALUE of the config; "" = none
	cal    func(*calibration.Joint) // what is wrong with the calibration of joint elbow; nil = it has none
	plant  func(*TestRobot) error   // nil = nothing

	Check, State string // "" = nothing may be found
	Id           int    // noID, or AnyID
	Kind         hal.Kind
	Found, Fix   string // parts of the finding's texts
}

// The id of findings that are not of one servo.
const (
	noID  = -1
	AnyID = 1000 // several findings of the check
)

// TestRobot is a robot for the doctor, sound until an ailment is planted in it.
type TestRobot struct {
	Config string // its name in the fault case
	Dir    string // for files of its own
	Exam   *Examination
}

// MatrixRow is what became of one fault.
type MatrixRow struct {
	Fault   string `json:"fault"`
	Robot   string `json:"robot"`
	State   string `json:"state"`
	Check   string `json:"check"`
	Finding string `json:"finding"`
	Fix     string `json:"fix"`
	OK      bool   `json:"ok"`
	Wrong   string `json:"wrong,omitempty"` // why it is not
}

func (m MatrixRow) Cells() report.Cells {
	ok := "ok"
	if !m.OK {
		ok = "FAILED: " + m.Wrong
	}
	found := "none"
	if m.Check != "" {
		found = m.State + " " + m.Check + ": " + m.Finding
	}
	return report.Cells{{"fault", m.Fault}, {"robot", m.Robot}, {"finding", found}, {"fix", cmp.Or(m.Fix, "-")},
		{"ok", ok}}
}

// FaultCases are all lines of the matrix; the robots without a fault come first.
func FaultCases() []FaultCase {
	var list []FaultCase
	for _, name := range append(configs.Names(), madeUp()...) {
		one := FaultCase{Name: "none", Config: name, Id: noID}
		if ungated(name) {
			one = FaultCase{Name: "no gate in the config", Config: name, Check: "output_enable", State: StateWarn,
				Id: AnyID, Found: "goes on pulsing", Fix: "wire OE"}
		}
		list = append(list, one)
	}
	return slices.Concat(list, servoFaultCases(), answerFaultCases(), calibrationFaultCases(), vendorFaultCases(),
		motorFaultCases(), hostFaultCases(), deviceFaultCases(), cameraFaultCases(), lineFaultCases(),
		baseFaultCases(), fieldFaultCases(), usedFaultCases())
}

// ungated reports whether an embedded config has a board whose pulses nothing ends when the program dies, which the
// doctor names and has to.
func ungated(name string) bool {
	c, err := configs.Load(name, configs.Options{Body: string(configs.Emulated)})
	if err != nil {
		return false
	}
	plan, err := plan.Resolve(c, builtin.Catalog())
	return (err == nil || UncalibratedAlone(err)) &&
		slices.ContainsFunc(plan.Boards,
			func(p *catalog.BoardPlan) bool { return p.Device == "pca9685" && p.Gate == nil })
}

// ErrNothingEmulated reports that a config has no hardware that could be emulated, and so nothing for the doctor.
var ErrNothingEmulated = errors.New("no hardware")

// Row examines the ailment's robot; dir is for its files.
func (l *FaultCase) Row(ctx context.Context, dir string) (MatrixRow, error) {
	row := MatrixRow{Fault: l.Name, Robot: l.Config}
	bad, exam, err := l.Examine(ctx, dir, nil)
	if err != nil {
		return row, err
	}
	row.Wrong = l.Judge(bad, exam.Verdict(true))
	row.OK = row.Wrong == ""
	if len(bad) > 0 {
		row.State, row.Check, row.Finding, row.Fix = bad[0].State, bad[0].Check, bad[0].Found, bad[0].Fix
	}
	return row, nil
}

// Examine plants the ailment in its robot and returns all findings that are not ok. before is called with the plan; nil
// for nothing.
func (l *FaultCase) Examine(ctx context.Context, dir string, before func(*plan.Plan)) ([]Finding, *Examination, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	o := configs.Options{Body: string(configs.Emulated)}
	if l.set != "" {
		o.Set = []string{l.set}
	}
	if l.cal != nil {
		set, err := calibrateElbow(dir, l.cal)
		if err != nil {
			return nil, nil, err
		}
		o.Set = append(o.Set, set)
	}
	plan, err := planFor(l.Config, dir, o)
	if err != nil {
		return nil, nil, err
	}
	if before != nil {
		before(plan)
	}
	p := &TestRobot{Config: l.Config, Dir: dir}
	if p.Exam, err = NewExamination(plan, string(configs.Emulated), nil); err != nil {
		return nil, nil, err
	}
	if l.plant != nil {
		if err := l.plant(p); err != nil {
			return nil, nil, err
		}
	}
	if err := p.Exam.Run(ctx); err != nil {
		return nil, nil, err
	}
	// What is made real for a fault of the machine has no calibrations; that is not the fault.
	p.Exam.Found = slices.DeleteFunc(p.Exam.Found, func(f Finding) bool {
		return f.Check == "calibration" && l.Check != "calibration" && p.Exam.hypothetic
	})
	bad := slices.Clone(p.Exam.Found)
	return slices.DeleteFunc(bad, func(f Finding) bool { return f.State == StateOK }), p.Exam, nil
}

// planFor loads a config, or makes up a robot in dir.
func planFor(name, dir string, o configs.Options) (*plan.Plan, error) {
	path, err := makeUp(name, dir)
	if err != nil {
		return nil, err
	}
	c, err := configs.Load(path, o)
	if err != nil {
		if slices.Contains(configs.Names(), name) && len(o.Set) == 0 {
			return nil, ErrNothingEmulated
		}
		return nil, err
	}
	plan, err := plan.Resolve(c, builtin.Catalog())
	if err != nil && !UncalibratedAlone(err) {
		return nil, err
	}
	return plan, nil
}

// Judge describes what is wrong with the findings, "" where they name the ailment and nothing else. verdict is the
// doctor's own, with warnings counted.
func (l *FaultCase) Judge(bad []Finding, verdict error) string {
	list := func() string {
		var texts []string
		for _, f := range bad {
			texts = append(texts, fmt.Sprint(report.Texts(f.Cells())))
		}
		return strings.Join(texts, "; ")
	}
	if l.Check == "" {
		if len(bad) > 0 {
			return "nothing is wrong, got " + list()
		}
		return ""
	}
	if len(bad) == 0 || len(bad) > 1 && l.Id != AnyID {
		return fmt.Sprintf("got %d findings, want one %s: %s", len(bad), l.Check, list())
	}
	for _, f := range bad {
		id := noID
		if f.ID != nil {
			id = *f.ID
		}
		switch {
		case f.Check != l.Check || f.State != l.State || id != l.Id && l.Id != AnyID:
			return fmt.Sprintf("got %s, want %s %s of id %d", list(), l.State, l.Check, l.Id)
		case !strings.Contains(f.Found, l.Found) || !strings.Contains(f.Fix, l.Fix):
			return fmt.Sprintf("got %s, want %q and the fix %q", list(), l.Found, l.Fix)
		}
	}
	want := l.Kind
	if l.State == StateWarn {
		want = hal.Differs
	}
	if got := hal.KindOf(verdict); got != want {
		return fmt.Sprintf("got exit %d, want %d: %s", int(got)+1, int(want)+1, list())
	}
	return ""
}

// calibrateElbow writes a calibration of joint elbow, changed by change, and returns the option that names it.
func calibrateElbow(dir string, change func(*calibration.Joint)) (string, error) {
	c := calibration.Nominal("elbow", calibration.Servo{Model: "xm430-w350", ID: 3},
		calibration.Model{TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095, TorqueConstant: 4.1 / 2.3})
	c.Method, c.Date = calibration.ByManual, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	change(c)
	path := filepath.Join(dir, "elbow.yaml")
	_, err := calibration.Save(path, c)
	return "agents[0].hardware.joints.elbow.calibration=" + path, err
}
