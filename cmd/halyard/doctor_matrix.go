package main

import (
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
)

// The doctor is proven by a matrix: each fault is planted alone in a sound robot, on emulated servos and devices and, for
// faults of the machine, on a made-up /sys, /proc and /dev. It must be named by its own check, with its fix, and nothing
// else may complain; robots without a fault must give no finding at all.

// faultCase is one line of the matrix: a fault, and what the doctor must say of it.
type faultCase struct {
	name   string
	config string                   // an embedded config, or one of the made-up robots
	set    string                   // PATH=VALUE of the config; "" = none
	cal    func(*calibration.Joint) // what is wrong with the calibration of joint elbow; nil = it has none
	plant  func(*testRobot) error   // nil = nothing

	check, state string // "" = nothing may be found
	id           int    // nobody, or anybody
	kind         hal.Kind
	found, fix   string // parts of the finding's texts
}

// Whom a finding is of, where it is of no single servo.
const (
	noID    = -1
	anybody = 1000 // several findings of the check
)

// testRobot is a robot for the doctor, sound until an ailment is planted in it.
type testRobot struct {
	config string // its name, as the ailment says it
	dir    string // for files of its own
	exam   *examination
}

// matrixRow is what became of one fault.
type matrixRow struct {
	Fault   string `json:"fault"`
	Robot   string `json:"robot"`
	State   string `json:"state"`
	Check   string `json:"check"`
	Finding string `json:"finding"`
	Fix     string `json:"fix"`
	OK      bool   `json:"ok"`
	Wrong   string `json:"wrong,omitempty"` // why it is not
}

func (matrixRow) header() []string { return []string{"fault", "robot", "finding", "fix", "ok"} }

func (m matrixRow) cells() []string {
	ok := "ok"
	if !m.OK {
		ok = "FAILED: " + m.Wrong
	}
	found := "none"
	if m.Check != "" {
		found = m.State + " " + m.Check + ": " + m.Finding
	}
	if m.Fix == "" {
		m.Fix = "-"
	}
	return []string{m.Fault, m.Robot, found, m.Fix, ok}
}

// faultCases are all lines of the matrix; the robots without a fault come first.
func faultCases() []faultCase {
	var list []faultCase
	for _, name := range append(configs.Names(), madeUp()...) {
		one := faultCase{name: "none", config: name, id: noID}
		if ungated(name) {
			one = faultCase{name: "no gate in the config", config: name, check: "gate", state: stateWarn, id: anybody, found: "goes on pulsing", fix: "wire OE"}
		}
		list = append(list, one)
	}
	return slices.Concat(list, servoFaultCases(), answerFaultCases(), calibrationFaultCases(), vendorFaultCases(), motorFaultCases(), hostFaultCases(), deviceFaultCases(), cameraFaultCases(), lineFaultCases(),
		baseFaultCases(), fieldFaultCases(), usedFaultCases())
}

// ungated tells of an embedded config whether nothing ends the pulses of a board of its when the program dies, which the
// doctor names and has to.
func ungated(name string) bool {
	c, err := configs.Load(name, configs.Options{Body: string(configs.Emulated)})
	if err != nil {
		return false
	}
	plan, err := resolve(c)
	return (err == nil || uncalibratedAlone(err)) &&
		slices.ContainsFunc(plan.boards, func(p *boardPlan) bool { return p.device == "pca9685" && p.gate == nil })
}

// doctorMatrix runs the whole matrix and prints it. The error is hal.Differs where a line is not ok.
func (a *app) doctorMatrix(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "halyard-doctor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var rows []matrixRow
	planted, failed := 0, 0
	for i, one := range faultCases() {
		row, err := one.row(ctx, filepath.Join(dir, fmt.Sprint(i)))
		if errors.Is(err, errNothingEmulated) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if rows = append(rows, row); one.check != "" {
			planted++
		}
		if !row.OK {
			failed++
		}
	}
	if err := show(a, rows); err != nil {
		return err
	}
	if failed > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "doctor --matrix", Err: fmt.Errorf("%d of %d lines are not as they should be", failed, len(rows))}
	}
	a.note("%d faults planted, each named alone with its fix; %d robots without a fault, no finding", planted, len(rows)-planted)
	return nil
}

// errNothingEmulated says that a config has no hardware that could be emulated, and so nothing for the doctor.
var errNothingEmulated = errors.New("no hardware")

// row examines the ailment's robot; dir is for its files.
func (l *faultCase) row(ctx context.Context, dir string) (matrixRow, error) {
	row := matrixRow{Fault: l.name, Robot: l.config}
	bad, exam, err := l.examine(ctx, dir)
	if err != nil {
		return row, err
	}
	row.Wrong = l.judge(bad, exam.verdict(true))
	row.OK = row.Wrong == ""
	if len(bad) > 0 {
		row.State, row.Check, row.Finding, row.Fix = bad[0].State, bad[0].Check, bad[0].Found, bad[0].Fix
	}
	return row, nil
}

// examine plants the ailment in its robot and returns all findings that are not ok.
func (l *faultCase) examine(ctx context.Context, dir string) ([]finding, *examination, error) {
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
	plan, err := planFor(l.config, dir, o)
	if err != nil {
		return nil, nil, err
	}
	p := &testRobot{config: l.config, dir: dir}
	if p.exam, err = newExamination(plan, string(configs.Emulated), nil); err != nil {
		return nil, nil, err
	}
	if l.plant != nil {
		if err := l.plant(p); err != nil {
			return nil, nil, err
		}
	}
	if err := p.exam.run(ctx); err != nil {
		return nil, nil, err
	}
	// What is made real for a fault of the machine has no calibrations; that is not the fault.
	p.exam.found = slices.DeleteFunc(p.exam.found, func(f finding) bool {
		return f.Check == "calibration" && l.check != "calibration" && p.exam.hypothetic
	})
	bad := slices.Clone(p.exam.found)
	return slices.DeleteFunc(bad, func(f finding) bool { return f.State == stateOK }), p.exam, nil
}

// planFor loads a config, or makes up a robot in dir.
func planFor(name, dir string, o configs.Options) (*plan, error) {
	path, err := makeUp(name, dir)
	if err != nil {
		return nil, err
	}
	c, err := configs.Load(path, o)
	if err != nil {
		if slices.Contains(configs.Names(), name) && len(o.Set) == 0 {
			return nil, errNothingEmulated
		}
		return nil, err
	}
	plan, err := resolve(c)
	if err != nil && !uncalibratedAlone(err) {
		return nil, err
	}
	return plan, nil
}

// judge says what is wrong with the findings, "" where they name the ailment and nothing else. verdict is the doctor's
// own, with warnings counted.
func (l *faultCase) judge(bad []finding, verdict error) string {
	list := func() string {
		var texts []string
		for _, f := range bad {
			texts = append(texts, fmt.Sprint(f.cells()))
		}
		return strings.Join(texts, "; ")
	}
	if l.check == "" {
		if len(bad) > 0 {
			return "nothing is wrong, got " + list()
		}
		return ""
	}
	if len(bad) == 0 || len(bad) > 1 && l.id != anybody {
		return fmt.Sprintf("got %d findings, want one %s: %s", len(bad), l.check, list())
	}
	for _, f := range bad {
		id := noID
		if f.ID != nil {
			id = *f.ID
		}
		switch {
		case f.Check != l.check || f.State != l.state || id != l.id && l.id != anybody:
			return fmt.Sprintf("got %s, want %s %s of id %d", list(), l.state, l.check, l.id)
		case !strings.Contains(f.Found, l.found) || !strings.Contains(f.Fix, l.fix):
			return fmt.Sprintf("got %s, want %q and the fix %q", list(), l.found, l.fix)
		}
	}
	want := l.kind
	if l.state == stateWarn {
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
		calibration.Model{TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095, StallTorque: 4.1, MaxEffort: 3.2})
	c.Method, c.Date = calibration.ByHand, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	change(c)
	path := filepath.Join(dir, "elbow.yaml")
	_, err := calibration.Save(path, c)
	return "agents[0].hardware.joints.elbow.calibration=" + path, err
}
