package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// Step is a network from one observation to one action. What it remembers is further inputs, each of which has an
// output: h_in and h_out.
type Step struct {
	Net                 *Network
	Observation, Action []float32 // of the network; Action is valid until the next Run
	memory              [][2][]float32
}

// NewStep finds the observation, the action and the memory among the inputs and outputs of net. The error names those
// that have no part.
func NewStep(net *Network) (*Step, error) {
	s := &Step{Net: net}
	var ins, outs, used []string
	for _, in := range net.Inputs {
		kept := false
		for _, out := range net.Outputs {
			name, is := strings.CutSuffix(out.Name, "_out")
			if is && (in.Name == name || in.Name == name+"_in") && len(in.Values) == len(out.Values) {
				s.memory = append(s.memory, [2][]float32{in.Values, out.Values})
				kept, used = true, append(used, out.Name)
			}
		}
		if !kept {
			ins, s.Observation = append(ins, in.Name), in.Values
		}
	}
	for _, out := range net.Outputs {
		if !slices.Contains(used, out.Name) {
			outs = append(outs, out.Name)
			if len(outs) == 1 {
				s.Action = out.Values
			}
		}
	}
	if len(ins) != 1 || len(outs) == 0 {
		return nil, fmt.Errorf("got inputs %.300q and outputs %.300q, want one observation and one action "+
			"(a memory is NAME_in with NAME_out of one size)", ins, outs)
	}
	return s, nil
}

// Run computes the action, and keeps the memory for the next call.
func (s *Step) Run() {
	s.Net.Run()
	for _, m := range s.memory {
		copy(m[0], m[1])
	}
}

// Reset clears the memory.
func (s *Step) Reset() {
	for _, m := range s.memory {
		clear(m[0])
	}
}

// Bounds of a network of layers.
const (
	maxLayers = 16
	maxUnits  = 4096
)

// Layer is dense: y[i] = f(bias[i] + sum of weights[i][j] x[j]).
type Layer struct {
	Weights [][]float64 `json:"weights"`        // one row a unit
	Bias    []float64   `json:"bias,omitempty"` // none: 0
	// linear (none), tanh, relu, sin, elu, sigmoid, softplus, silu, gelu; one for all units, or one a unit
	Activations []string `json:"activations,omitempty"`
}

// activations are the functions of layers by name, in alphabetical order.
var activations = []struct {
	name string
	f    function
}{
	{"elu", func(x float64) float64 { return elu(x, 1) }}, {"gelu", unary["Gelu"](&build{node: &node{}})},
	{"linear", func(x float64) float64 { return x }}, {"relu", func(x float64) float64 { return max(0, x) }},
	{"sigmoid", sigmoid}, {"silu", func(x float64) float64 { return x * sigmoid(x) }}, {"sin", exact.Sin},
	{"softplus", softplus}, {"tanh", tanh},
}

func activation(name string) (function, error) {
	var names []string
	for _, a := range activations {
		if a.name == name {
			return a.f, nil
		}
		names = append(names, a.name)
	}
	return nil, fmt.Errorf("activations: got %.20q, want one of %q", name, names)
}

// Dense is a network of layers: weights as float32. The error names the layer.
func Dense(layers []Layer) (*Network, error) {
	if len(layers) < 1 || len(layers) > maxLayers {
		return nil, fmt.Errorf("got %d layers, want 1..%d", len(layers), maxLayers)
	}
	net := &Network{}
	var x []float32
	for k := range layers {
		l := &layers[k]
		units := len(l.Weights)
		if units < 1 || units > maxUnits {
			return nil, fmt.Errorf("layers[%d]: got %d units, want 1..%d", k, units, maxUnits)
		}
		if x == nil {
			x = make([]float32, min(len(l.Weights[0]), maxUnits))
			net.Inputs = []Port{{"obs", []int{1, len(x)}, x}}
		}
		step, y, err := l.step(net, x)
		if err != nil {
			return nil, fmt.Errorf("layers[%d]%w", k, err)
		}
		net.steps, x = append(net.steps, step), y
	}
	net.Outputs = []Port{{"actions", []int{1, len(x)}, x}}
	return net, nil
}

// step is one layer from x to y.
func (l *Layer) step(net *Network, x []float32) (step func(), y []float32, err error) {
	units := len(l.Weights)
	p, err := newProduct(net, units, len(x))
	if err != nil {
		return nil, nil, fmt.Errorf(": %w", err)
	}
	for i, w := range l.Weights {
		if len(w) != len(x) {
			return nil, nil, fmt.Errorf(".weights[%d]: got %d values, want %d, at most %d", i, len(w), len(x), maxUnits)
		}
		for j, v := range w {
			p.w[i*len(x)+j] = float64(float32(v))
		}
	}
	bias := make([]float64, units)
	if n := copy(bias, l.Bias); n != len(l.Bias) || n != 0 && n != units {
		return nil, nil, fmt.Errorf(".bias: got %d values, want %d or none", len(l.Bias), units)
	}
	n := len(l.Activations)
	if n > 1 && n != units {
		return nil, nil, fmt.Errorf(".activations: got %d, want 1 or %d", n, units)
	}
	fs := make([]function, units)
	for i := range fs {
		name := "linear"
		if n > 0 {
			name = l.Activations[min(i, n-1)]
		}
		if fs[i], err = activation(name); err != nil {
			return nil, nil, fmt.Errorf(".%w", err)
		}
	}
	sums := make([]float64, units)
	y = make([]float32, units)
	return func() {
		p.row(x, sums)
		for i, f := range fs {
			y[i] = float32(f(sums[i] + bias[i]))
		}
	}, y, nil
}
