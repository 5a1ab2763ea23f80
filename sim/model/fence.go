package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// fenceFile is a grid of bars from one point to another: a robot stops at it, most rays go through.
type fenceFile struct {
	From     [3]float64 `yaml:"from_m" min:"-1e4" max:"1e4"` // at its foot
	To       [3]float64 `yaml:"to_m" min:"-1e4" max:"1e4"`
	Height   float64    `yaml:"height_m" required:"true" above:"0" max:"100"`
	Gap      float64    `yaml:"gap_m" required:"true" above:"0" max:"100"` // from bar to bar
	Bar      float64    `yaml:"bar_m" required:"true" above:"0" max:"1"`   // how thick one is
	Material string     `yaml:"material"`
}

// bars turns a fence into its posts and two rails.
func (f *fenceFile) bars(path yaml.Path, s *Scene, materials map[string]Material, faults *faults) {
	from, to := f.From, f.To
	m, _ := faults.material(path+".material", f.Material, materials)
	way := vec{to[0] - from[0], to[1] - from[1], to[2] - from[2]}
	long := math.Hypot(way[0], way[1])
	if !(long > f.Gap) || math.Abs(way[2]) > 1e-9 {
		faults.add(path, "got a fence from %v to %v, want a level fence longer than gap_m", from, to)
	}
	if !faults.Clean(path) {
		return
	}
	n := int(math.Round(long / f.Gap))
	if !faults.count(path, len(s.Fixed)+n+3, maxFixed) {
		return
	}
	turn := rollPitchYaw(0, 0, math.Atan2(way[1], way[0]))
	box := func(share, up, length, height float64) {
		s.Fixed = append(s.Fixed, Shape{Kind: Box, Collides: true, Material: m,
			Half: [3]float64{length / 2, f.Bar / 2, height / 2},
			Pose: hal.Pose{Rotation: turn,
				Position: [3]float64{from[0] + float64(share*way[0]), from[1] + float64(share*way[1]), from[2] + up}}})
	}
	for i := range n + 1 {
		box(float64(i)/float64(n), f.Height/2, f.Bar, f.Height)
	}
	box(0.5, f.Bar/2, long, f.Bar)
	box(0.5, f.Height-f.Bar/2, long, f.Bar)
}
