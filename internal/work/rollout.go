package work

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	// MaxSteps is the greatest number of steps of a rollout.
	MaxSteps = 10_000_000
	// MaxRollout is the greatest length of a rollout as JSON, bytes; results have the same bound.
	MaxRollout = 8 << 20
	maxSeen    = 1_000_000 // numbers of a result
)

// keys are those that are one token of a subject, and a key of a bucket.
var keys = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Rollout is one task: a rig is reset to Seed and stepped. Exactly one of Actions and Policy may be given; without
// both, no command is sent.
type Rollout struct {
	Key     string   `json:"key"`               // letters, digits, _ and -; at most 128
	Seed    int64    `json:"seed"`              // 1 or more
	Steps   int      `json:"steps"`             // 1..MaxSteps
	Act     []string `json:"act,omitempty"`     // columns of the actions; none: one goal a joint
	Observe []string `json:"observe,omitempty"` // columns of the observations; none: all outputs
	Every   int      `json:"every,omitempty"`   // steps between two rows of the result; 0 = 1
	Actions []Row    `json:"actions,omitempty"` // one row a step, SI units; after the last one no further command
	Policy  *Policy  `json:"policy,omitempty"`
}

// Result is what a rollout has shown: the row after the reset, those after each Every steps, and the last one.
type Result struct {
	Key          string   `json:"key"`
	Rollout      string   `json:"rollout"` // SHA-256 of the config and the rollout, 16 bytes in hexadecimal
	Seed         int64    `json:"seed"`
	Steps        int      `json:"steps"` // that were made: fewer than asked for where Error is not empty
	Columns      []string `json:"columns"`
	Observations []Row    `json:"observations"`
	// SHA-256 of all rows of all steps as little-endian float64, 16 bytes in hexadecimal
	Hash  string `json:"hash"`
	Error string `json:"error,omitempty"`
}

// Row is numbers of which NaN is null in JSON: no command, or not measured.
type Row []float64

// MarshalJSON implements json.Marshaler: the shortest text that gives the same bits.
func (r Row) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, x := range r {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		}
	}
	return append(b, ']'), nil
}

func (r *Row) UnmarshalJSON(data []byte) error {
	var list []*float64
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*r = make(Row, len(list))
	for i, x := range list {
		if (*r)[i] = math.NaN(); x != nil {
			(*r)[i] = *x
		}
	}
	return nil
}

// Parse reads one rollout. Unknown fields are errors; the error is hal.Invalid.
func Parse(data []byte) (*Rollout, error) {
	r := &Rollout{}
	if err := strict(data, r); err != nil {
		return nil, invalid("%v", err)
	}
	return r, r.check()
}

// strict decodes the only value of data.
func strict(data []byte, into any) error {
	if len(data) > MaxRollout {
		return fmt.Errorf("got %d bytes, want at most %d", len(data), MaxRollout)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("got more than one JSON value")
	}
	return nil
}

func invalid(format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "rollout", Err: fmt.Errorf(format, args...)}
}

// check finds what is wrong with r without its rig.
func (r *Rollout) check() error {
	switch {
	case !keys.MatchString(r.Key):
		return invalid("key: got %.140q, want 1 to 128 letters, digits, _ and -", r.Key)
	case r.Seed < 1:
		return invalid("%s: seed: got %d, want 1 or more", r.Key, r.Seed)
	case r.Steps < 1 || r.Steps > MaxSteps:
		return invalid("%s: steps: got %d, want 1..%d", r.Key, r.Steps, MaxSteps)
	case r.Every < 0:
		return invalid("%s: every: got %d, want 0 or more", r.Key, r.Every)
	case r.Actions != nil && r.Policy != nil:
		return invalid("%s: got actions and a policy, want one of them", r.Key)
	}
	for i, row := range r.Actions {
		if len(row) != len(r.Actions[0]) {
			return invalid("%s: actions[%d]: got %d values, want %d as in the first row", r.Key, i, len(row),
				len(r.Actions[0]))
		}
	}
	if r.Policy != nil {
		if err := r.Policy.check(); err != nil {
			return invalid("%s: policy: %v", r.Key, err)
		}
	}
	return nil
}

// every is the number of steps between two rows of the result.
func (r *Rollout) every() int { return max(1, r.Every) }

// digest identifies r on the rig of a digest.
func (r *Rollout) digest(rig string) (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return digest([]byte(rig), data), nil
}

// digest is the first half of the SHA-256 of its parts.
func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
