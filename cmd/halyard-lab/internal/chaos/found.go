package chaos

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// files are schedules that broke an invariant once. Their first line is "# ROBOT SEED: what was wrong".
//
//go:embed testdata/*.txt
var files embed.FS

// Known is a schedule that broke an invariant once.
type Known struct {
	Name, Robot string
	Seed        int64
	Schedule    []Action
}

// AllKnown are all of them, in the order of their names.
func AllKnown() (all []Known, err error) {
	list, err := files.ReadDir("testdata")
	for _, f := range list {
		if f.IsDir() {
			continue
		}
		text, err := files.ReadFile(path.Join("testdata", f.Name()))
		if err != nil {
			return nil, err
		}
		k := Known{Name: f.Name()}
		head, _, _ := strings.Cut(string(text), ":")
		if _, err := fmt.Sscanf(head, "# %s %d", &k.Robot, &k.Seed); err != nil {
			return nil, fmt.Errorf("%s: first line: %w", f.Name(), err)
		}
		if k.Schedule, err = ParseAll(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, k)
	}
	return all, err
}

// Run lets it pass with the timing, ideal or of real lines.
func (k *Known) Run(ideal bool) (Result, error) {
	r, err := Open(k.Robot, ideal)
	if err != nil {
		return Result{}, err
	}
	return r.Run(k.Seed, k.Schedule)
}
