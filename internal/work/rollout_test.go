package work

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/batch"
	"github.com/halyard-robotics/halyard/internal/policy"
)

// rollouts are texts and what is wrong with them; "" = nothing.
var rollouts = []struct{ text, fault string }{
	{`{"key":"a","seed":1,"steps":1}`, ""},
	{`{"key":"a-B_9","seed":9007199254740993,"steps":10000000,"act":["elbow/position"],"observe":["elbow/position"],"every":3}`, ""},
	{`{"key":"a","seed":1,"steps":3,"actions":[[0.1,null],[-1e-300,3]]}`, ""},
	{`{"key":"a","seed":1,"steps":3,"policy":{"layers":[{"weights":[[1,2],[3,4],[5,6]],"activations":["sin","tanh","relu"]},{"weights":[[1,1,1]],"bias":[0.5]}]}}`, ""},
	{``, "EOF"},
	{`[]`, "cannot unmarshal"},
	{`{"key":"a","seed":1,"steps":1} {}`, "more than one"},
	{`{"key":"a","seed":1,"steps":1,"polcy":{}}`, `unknown field "polcy"`},
	{`{"seed":1,"steps":1}`, `key: got ""`},
	{`{"key":"a.b","seed":1,"steps":1}`, `key: got "a.b"`},
	{`{"key":"a*","seed":1,"steps":1}`, "key: got"},
	{`{"key":"` + strings.Repeat("x", 129) + `","seed":1,"steps":1}`, "1 to 128 letters"},
	{`{"key":"a","steps":1}`, "seed: got 0, want 1 or more"},
	{`{"key":"a","seed":-4,"steps":1}`, "seed: got -4"},
	{`{"key":"a","seed":1.5,"steps":1}`, "cannot unmarshal"},
	{`{"key":"a","seed":1}`, "steps: got 0"},
	{`{"key":"a","seed":1,"steps":10000001}`, "want 1..10000000"},
	{`{"key":"a","seed":1,"steps":1,"every":-1}`, "every: got -1"},
	{`{"key":"a","seed":1,"steps":1,"actions":[[1],[1,2]]}`, "actions[1]: got 2 values, want 1"},
	{`{"key":"a","seed":1,"steps":1,"actions":[["1"]]}`, "cannot unmarshal"},
	{`{"key":"a","seed":1,"steps":1,"actions":[[1]],"policy":{"layers":[{"weights":[[1]]}]}}`, "want one of them"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[]}}`, "got 0 layers"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[{"weights":[]}]}}`, "got 0 units"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[{"weights":[[1],[1,2]]}]}}`,
		"weights[1]: got 2 values, want 1"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[{"weights":[[1],[1]]},{"weights":[[1]]}]}}`,
		"layers[1].weights[0]: got 1 values, want 2"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[{"weights":[[1]],"bias":[1,2]}]}}`, "bias: got 2 values"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[{"weights":[[1],[1],[1]],"activations":["tanh","tanh"]}]}}`,
		"activations: got 2"},
	{`{"key":"a","seed":1,"steps":1,"policy":{"layers":[{"weights":[[1]],"activations":["gulp"]}]}}`, `got "gulp"`},
	{`{"key":"a","seed":1,"steps":1,"policy":{"onnx":"AAAA"}}`, "read ONNX"},
	{`{"key":"a","seed":1,"steps":1,"policy":{}}`, "or none of them"},
}

func TestParse(t *testing.T) {
	for _, c := range rollouts {
		r, err := Parse([]byte(c.text))
		if c.fault == "" && err == nil {
			again, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := Parse(again); err != nil || mustDigest(t, same) != mustDigest(t, r) {
				t.Errorf("%s: got %s after a round trip, %v", c.text, again, err)
			}
			continue
		}
		if err == nil || c.fault == "" || hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%.200s: got %v, want an invalid rollout: %q", c.text, err, c.fault)
		}
	}
}

func mustDigest(t testing.TB, r *Rollout) string {
	t.Helper()
	d, err := r.digest("rig")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// FuzzRollout: what is taken is taken again as it was written, and runs on any rig.
func FuzzRollout(f *testing.F) {
	for _, c := range rollouts {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil || mustDigest(t, again) != mustDigest(t, r) {
			t.Fatalf("%s: got %s, %v", data, text, err)
		}
		r.Steps = min(r.Steps, 5)
		if _, err := Run(&counter{}, r, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
}

// counter observes the sum of its two actions so far, from its seed on, and how often no command came.
type counter struct {
	sum, idle float64
	steps     int
	fault     error
}

func (*counter) Actions() []batch.Channel      { return make([]batch.Channel, 2) }
func (*counter) Observations() []batch.Channel { return []batch.Channel{{Name: "sum"}, {Name: "idle"}} }
func (*counter) Close() error                  { return nil }

func (c *counter) Reset(_ []bool, seeds []int64, seen []float64) error {
	c.sum, c.idle = float64(seeds[0]), math.NaN()
	copy(seen, []float64{c.sum, c.idle})
	return nil
}

func (c *counter) Step(actions, seen []float64) error {
	c.steps++
	for _, a := range actions {
		if a != a {
			if c.idle != c.idle {
				c.idle = 0
			}
			c.idle++
			continue
		}
		c.sum += a
	}
	copy(seen, []float64{c.sum, c.idle})
	if c.steps == 100 {
		return c.fault
	}
	return nil
}

func run(t *testing.T, text string) *Result {
	t.Helper()
	r, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(&counter{}, r, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRun(t *testing.T) {
	for _, c := range []struct{ name, rollout, want string }{
		{"every step", `"steps":3,"actions":[[1,2],[3,null]]`, `[[7,null],[10,null],[13,1],[13,3]]`},
		{"every second, and the last", `"steps":5,"every":2,"actions":[[1,0],[1,0],[1,0],[1,0],[1,0]]`,
			`[[7,null],[9,null],[11,null],[12,null]]`},
		{"the end alone", `"steps":4,"every":10`, `[[7,null],[7,8]]`},
		{"a policy: half the sum, and 1", `"steps":2,"policy":{"layers":[{"weights":[[0.5,9],[0,0]],"bias":[0,1]}]}`,
			`[[7,null],[11.5,null],[18.25,null]]`},
		{"too many columns", `"steps":2,"actions":[[1,2,3]]`, "actions: got rows of 3 values, want 2"},
		{"a network of another rig", `"steps":2,"policy":{"layers":[{"weights":[[1]]}]}`,
			"policy: got 1 inputs and 1 outputs, want 2 observations and 2 actions"},
		{"too much", `"steps":10000000`, "at most 1000000 numbers"},
	} {
		out := run(t, `{"key":"a","seed":7,`+c.rollout+`}`)
		got, err := json.Marshal(out.Observations)
		if err != nil {
			t.Fatal(err)
		}
		if out.Error == "" && string(got) != c.want || out.Error != "" && !strings.Contains(out.Error, c.want) {
			t.Errorf("%s: got %s, %q, want %s", c.name, got, out.Error, c.want)
		}
	}
	// The hash is of all steps, also of those that are no rows.
	a := run(t, `{"key":"a","seed":7,"steps":2,"every":2,"actions":[[1,0],[2,0]]}`)
	b := run(t, `{"key":"a","seed":7,"steps":2,"every":2,"actions":[[2,0],[1,0]]}`)
	if slices.Equal(a.Observations[1], b.Observations[1]) && a.Hash == b.Hash ||
		a.Observations[1][0] != b.Observations[1][0] {
		t.Errorf("got %v and %v, want the same end with another hash", a, b)
	}
}

// A rig that fails ends the rollout; a worker that is called off has no result.
func TestRunEnds(t *testing.T) {
	r := &Rollout{Key: "a", Seed: 1, Steps: 200, Every: 1000}
	out, err := Run(&counter{fault: errors.New("diverged")}, r, func() error { return nil })
	if err != nil || out.Error != "diverged" || out.Steps != 99 {
		t.Errorf("got %+v, %v, want 99 steps and the rig's error", out, err)
	}
	off := errors.New("called off")
	if out, err := Run(&counter{}, r, func() error { return off }); out != nil || !errors.Is(err, off) {
		t.Errorf("got %v, %v, want no result", out, err)
	}
}

// An ONNX file is a policy too, NaN counts as 0, and each rollout begins without memory of the last.
func TestPolicies(t *testing.T) {
	p := Policy{Layers: []policy.Layer{{Weights: [][]float64{{1, 0}, {0, 2}}, Bias: []float64{0, 1},
		Activations: []string{"relu"}}, {Weights: [][]float64{{1, 10}}, Activations: []string{"elu"}}}}
	actions := make([]float64, 1)
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	if p.act([]float64{-3, math.NaN()}, actions); actions[0] != 10 {
		t.Errorf("got %v, want 10: NaN counts as 0", actions)
	}
	data, err := os.ReadFile("../policy/testdata/networks/gru-policy.onnx")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(&Rollout{Key: "a", Seed: 7, Steps: 20, Policy: &Policy{ONNX: data}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for range 2 {
		out, err := Run(&counter{}, r, func() error { return nil })
		if err != nil || out.Error != "" {
			t.Fatal(out, err)
		}
		hashes = append(hashes, out.Hash)
	}
	if hashes[0] != hashes[1] {
		t.Errorf("got %v, want equal rollouts", hashes)
	}
}

func TestRow(t *testing.T) {
	in := Row{0, math.Copysign(0, -1), math.NaN(), 0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3}
	text, err := json.Marshal(in)
	var out Row
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil || len(out) != len(in) {
		t.Fatal(string(text), err)
	}
	for i := range in {
		if math.Float64bits(in[i]) != math.Float64bits(out[i]) {
			t.Errorf("got %v, want %v, the same bits, from %s", out[i], in[i], text)
		}
	}
	if !bytes.Contains(text, []byte("null")) {
		t.Errorf("got %s, want null for NaN", text)
	}
}
