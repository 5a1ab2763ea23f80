// Package zoo tries robot files of other people: which load, for what reasons the others are refused, and whether the
// joints of those that load go where they are told. The files are fetched by others: none is part of this tree.
package zoo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/model"
)

// File is a robot file of the zoo.
type File struct {
	File    string  `json:"file"`
	Format  string  `json:"format"`
	Joints  int     `json:"joints"`
	Passive int     `json:"passive"`
	Mass    float64 `json:"mass_kg"`
	Repairs int     `json:"repairs"`
	Refused string  `json:"refused,omitempty"` // why
	Reached int     `json:"reached"`           // joints that came to their goals
	Missed  string  `json:"missed,omitempty"`  // the first that did not
	Stands  string  `json:"stands,omitempty"`  // a floating MJCF, after 5 s with torque at its start
}

func (a File) Cells() report.Cells {
	return report.Cells{{"file", a.File}, {"format", a.Format}, {"joints", a.Joints}, {"passive", a.Passive},
		{"kg", fmt.Sprintf("%.4g", a.Mass)}, {"repairs", a.Repairs}, {"refused", cmp.Or(a.Refused, "-")},
		{"reached", a.Reached}, {"missed", cmp.Or(a.Missed, "-")},
		{"stands", cmp.Or(a.Stands, "-")}}
}

// Share is a line of the summary: how many files have one outcome.
type Share struct {
	Outcome string `json:"outcome"`
	Files   int    `json:"files"`
	Example string `json:"example"`
}

func (s Share) Cells() report.Cells {
	return report.Cells{{"files", s.Files}, {"outcome", s.Outcome}, {"example", s.Example}}
}

// Try loads every URDF, MJCF and SDF below dir, each content once, on all cores; with move it also moves each joint.
func Try(ctx context.Context, dir string, move bool) ([]File, error) {
	files, err := robotFiles(dir)
	if err != nil {
		return nil, err
	}
	list := make([]File, len(files))
	var next atomic.Int64
	var g sync.WaitGroup
	for range runtime.NumCPU() {
		g.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				list[i] = try(dir, files[i], move)
			}
		})
	}
	g.Wait()
	return list, ctx.Err()
}

// try loads one file.
func try(dir, file string, move bool) File {
	a := File{File: file, Format: strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))}
	if a.Format == "xml" {
		a.Format = "mjcf"
	}
	o := model.FileOptions{}
	if move {
		o.Base = "fixed"
	}
	r, err := model.OpenFile(filepath.Join(dir, file), o)
	if err != nil {
		a.Refused = strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
		return a
	}
	a.Joints, a.Passive, a.Repairs = len(r.Joints), len(r.Passive), r.Repairs
	for i := range r.Bodies {
		a.Mass += r.Bodies[i].Mass
	}
	if move && a.Joints > 0 {
		b, err := newBench(r, lift)
		if err == nil {
			a.Reached, a.Missed, err = b.move()
		}
		if err == nil && a.Format == "mjcf" {
			a.Stands, err = stands(filepath.Join(dir, file))
		}
		if err != nil {
			a.Missed = err.Error()
		}
	}
	return a
}

// stands tells how a floating robot with enough joints for legs stands; "" for others.
func stands(path string) (string, error) {
	r, err := model.OpenFile(path, model.FileOptions{})
	if err != nil || r.Fixed || len(r.Joints) < legged {
		return "", err
	}
	b, err := newBench(r, 0)
	if err != nil {
		return "", err
	}
	return b.stand()
}

// robotFiles are the robot files below dir, each content once.
func robotFiles(dir string) (list []string, err error) {
	seen := map[[sha256.Size]byte]bool{}
	parts := map[string]bool{} // of other files
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(path))
		if err != nil || !e.Type().IsRegular() || !slices.Contains([]string{".urdf", ".sdf", ".xml", ".mjcf"}, ext) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range included.FindAllSubmatch(data, -1) {
			parts[filepath.Join(filepath.Dir(path), string(m[1]))] = true
		}
		if (ext == ".xml" || ext == ".mjcf") && !mjcf.Match(data) || seen[sha256.Sum256(data)] {
			return nil
		}
		seen[sha256.Sum256(data)] = true
		list = append(list, path)
		return nil
	})
	list = slices.DeleteFunc(list, func(path string) bool { return parts[path] })
	for i, path := range list {
		if list[i], err = filepath.Rel(dir, path); err != nil {
			return nil, err
		}
	}
	return list, err
}

var (
	included = regexp.MustCompile(`<include\s+file\s*=\s*"([^"]+)"`)
	mjcf     = regexp.MustCompile(`<mujoco[\s>]`)
	own      = regexp.MustCompile(`"[^"]*"|<[^>]*>|\b[-+]?\d[\d.e+-]*\b|\S*/\S*|\[\d*\]`) // what only one file has
)

// Shares counts the outcomes of each format.
func Shares(list []File) (rows []Share) {
	at := map[string]int{}
	for _, a := range list {
		first, _, _ := strings.Cut(a.Refused, "\n")
		_, first, _ = strings.Cut(first, ": ")
		outcome := a.Format + ": refused: " + own.ReplaceAllString(first, "_")
		switch {
		case a.Refused == "" && a.Repairs > 0:
			outcome = a.Format + ": loaded, repaired"
		case a.Refused == "":
			outcome = a.Format + ": loaded"
		}
		i, ok := at[outcome]
		if !ok {
			i = len(rows)
			at[outcome], rows = i, append(rows, Share{Outcome: outcome, Example: a.File})
		}
		rows[i].Files++
	}
	slices.SortStableFunc(rows, func(a, b Share) int { return cmp.Compare(b.Files, a.Files) })
	return rows
}
