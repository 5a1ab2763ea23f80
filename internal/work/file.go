package work

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// ReadRollouts reads a file of rollouts, one a line; the name "-" is standard input, in.
func ReadRollouts(name string, in io.Reader) (list []*Rollout, err error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "work --rollouts", Err: err}
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxRollout+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		r, err := Parse(lines.Bytes())
		if err != nil {
			return nil, &hal.Error{Kind: hal.Invalid, Op: fmt.Sprintf("%s:%d", name, n), Err: err}
		}
		list = append(list, r)
	}
	if err := lines.Err(); err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "work --rollouts " + name, Err: err}
	}
	return list, nil
}

// Cells makes a result a row of a table: its last observations.
func (r Result) Cells() [][2]any {
	last := ""
	if n := len(r.Observations); n > 0 {
		var list []string
		for i, x := range r.Observations[n-1] {
			if i == 4 {
				list = append(list, "..")
				break
			}
			list = append(list, fmt.Sprintf("%.4g", x))
		}
		last = strings.Join(list, " ")
	}
	return [][2]any{{"key", r.Key}, {"seed", r.Seed}, {"steps", r.Steps}, {"rows", len(r.Observations)},
		{"last observations", last}, {"hash", r.Hash}, {"error", r.Error}}
}
