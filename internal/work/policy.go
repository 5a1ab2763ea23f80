package work

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/internal/policy"
)

// Policy is a network from the observations, NaN as 0, to the actions: dense layers, or an ONNX file. Its results are
// the same on every processor.
type Policy struct {
	Layers []policy.Layer `json:"layers,omitempty"`
	ONNX   []byte         `json:"onnx,omitempty"` // in JSON as base64

	step *policy.Step // made by check
}

// check finds what is wrong with p without its rig.
func (p *Policy) check() error {
	if (p.ONNX == nil) == (p.Layers == nil) {
		return errors.New("got layers and onnx, or none of them, want one of the two")
	}
	var net *policy.Network
	var err error
	if p.ONNX != nil {
		net, err = policy.Read(p.ONNX)
	} else {
		net, err = policy.Dense(p.Layers)
	}
	if err == nil {
		p.step, err = policy.NewStep(net)
	}
	return err
}

// fits checks p against the columns of its rig.
func (p *Policy) fits(observations, actions int) error {
	if in, out := len(p.step.Observation), len(p.step.Action); in != observations || out != actions {
		return fmt.Errorf("policy: got %d inputs and %d outputs, want %d observations and %d actions", in, out,
			observations, actions)
	}
	return nil
}

// act computes the actions.
func (p *Policy) act(seen, actions []float64) {
	for j, v := range seen {
		if p.step.Observation[j] = float32(v); v != v {
			p.step.Observation[j] = 0
		}
	}
	p.step.Run()
	for i, v := range p.step.Action {
		actions[i] = float64(v)
	}
}
