package work

import (
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

const (
	maxLayers = 16
	maxUnits  = 4096
)

// Policy is a network of dense layers from the observations, NaN as 0, to the actions. Its results are the same on
// every processor.
type Policy struct {
	Layers []Layer `json:"layers"`
}

// Layer computes y[i] = f(bias[i] + sum of weights[i][j] x[j]).
type Layer struct {
	Weights [][]float64 `json:"weights"`        // one row a unit
	Bias    []float64   `json:"bias,omitempty"` // none: 0
	// linear (none), tanh, relu, sin; one for all units, or one a unit
	Activations []string `json:"activations,omitempty"`
}

var activations = []string{"linear", "tanh", "relu", "sin"}

// check finds what is wrong with p without its rig.
func (p *Policy) check() error {
	if len(p.Layers) < 1 || len(p.Layers) > maxLayers {
		return fmt.Errorf("got %d layers, want 1..%d", len(p.Layers), maxLayers)
	}
	inputs := -1 // of the first layer: any
	for k, l := range p.Layers {
		units := len(l.Weights)
		if units < 1 || units > maxUnits {
			return fmt.Errorf("layers[%d]: got %d units, want 1..%d", k, units, maxUnits)
		}
		if inputs < 0 {
			inputs = len(l.Weights[0])
		}
		for i, w := range l.Weights {
			if len(w) != inputs || inputs > maxUnits {
				return fmt.Errorf("layers[%d].weights[%d]: got %d values, want %d, at most %d", k, i, len(w), inputs,
					maxUnits)
			}
		}
		if n := len(l.Bias); n != 0 && n != units {
			return fmt.Errorf("layers[%d].bias: got %d values, want %d or none", k, n, units)
		}
		if n := len(l.Activations); n > 1 && n != units {
			return fmt.Errorf("layers[%d].activations: got %d, want 1 or %d", k, n, units)
		}
		for _, a := range l.Activations {
			if !slices.Contains(activations, a) {
				return fmt.Errorf("layers[%d].activations: got %.20q, want one of %q", k, a, activations)
			}
		}
		inputs = units
	}
	return nil
}

// inputs and outputs are the numbers of observations and actions that p is for.
func (p *Policy) inputs() int  { return len(p.Layers[0].Weights[0]) }
func (p *Policy) outputs() int { return len(p.Layers[len(p.Layers)-1].Weights) }

// act computes the actions. room holds the values of two layers, maxUnits each.
func (p *Policy) act(seen, actions []float64, room *[2][maxUnits]float64) {
	x := room[0][:len(seen)]
	for j, v := range seen {
		if x[j] = v; v != v {
			x[j] = 0
		}
	}
	for k := range p.Layers {
		l := &p.Layers[k]
		y := room[1-k%2][:len(l.Weights)]
		for i, w := range l.Weights {
			sum := 0.0
			if len(l.Bias) > 0 {
				sum = l.Bias[i]
			}
			for j, v := range w {
				sum += float64(v * x[j]) // rounded: no processor fuses it with the sum
			}
			y[i] = l.activate(i, sum)
		}
		x = y
	}
	copy(actions, x)
}

// activate is the function of unit i at x.
func (l *Layer) activate(i int, x float64) float64 {
	name := ""
	if n := len(l.Activations); n > 0 {
		name = l.Activations[min(i, n-1)]
	}
	switch name {
	case "tanh":
		if x < 0 {
			return -tanh(-x)
		}
		return tanh(x)
	case "relu":
		return max(0, x)
	case "sin":
		return exact.Sin(x)
	}
	return x
}

// tanh is that of x >= 0.
func tanh(x float64) float64 {
	e := exact.Exp(-2 * x)
	return (1 - e) / (1 + e)
}
