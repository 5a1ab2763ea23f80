package model

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Scene is a world for robots, as data. It does not change after ParseScene.
type Scene struct {
	Name    string
	Title   string
	Simloid int       // the id by which Simloid's clients request it; hal.None for all others
	Ground  *Material // of the plane z = 0, solid below; nil: no ground
	Fixed   []Shape   // in the scene's frame
	Fields  []Field
	Free    []Body  // loose, at rest; stones that fall first
	GroundZ float64 // m, where the ground is
	Arena   Arena
	Water   *Water // nil: it is dry
	Things  []Thing
	Course  Course
}

// Field is a height field: a grid of heights over the scene's ground.
type Field struct {
	Name     string
	Position [3]float64 // m, of the middle of the grid; heights count from its z
	// Columns of samples are along x, Rows along y: sample (i, j) is at
	// ((i - (Columns-1)/2) Spacing[0], (j - (Rows-1)/2) Spacing[1]) from the middle.
	Columns, Rows int
	Spacing       [2]float64 // m
	Heights       []float64  // m, Heights[j*Columns+i]
	Material      Material
}

// ParseScene reads a scene file, like Parse a robot. Random values are drawn from the seed: the same seed gives the
// same stones on every machine.
func ParseScene(b []byte, source string, seed int64) (*Scene, error) {
	var f sceneFile
	d, ok := yaml.Decode(b, source, &f)
	if !ok {
		return nil, d.Err()
	}
	return yaml.Valid(d, f.scene(uint64(seed), &faults{d}))
}

func (f *sceneFile) scene(seed uint64, faults *faults) *Scene {
	s := &Scene{Name: f.Name, Title: f.Title, Simloid: hal.None, GroundZ: f.GroundZ}
	if f.Simloid != nil {
		s.Simloid = *f.Simloid
	}
	materials := readMaterials(f.Materials, faults)
	if f.Ground != "" {
		m, _ := faults.material("ground", f.Ground, materials)
		s.Ground = &m
	}
	for i := range f.Fixed {
		s.Fixed = append(s.Fixed, f.Fixed[i].shape(yaml.Path("fixed").Index(i), materials, faults))
	}
	samples := 0
	for i := range f.Fields {
		n := &f.Fields[i].Samples
		if samples += n[0] * n[1]; !faults.count(yaml.Path("fields").Index(i).Key("samples"), samples, maxSamples) {
			break
		}
		s.Fields = append(s.Fields, f.Fields[i].field(yaml.Path("fields").Index(i), materials, faults))
	}
	f.loose(s, seed, materials, faults)
	f.wet(s)
	f.objects(s, materials, faults)
	s.Course = f.Course.course(faults)
	f.Arena.arena(s, materials, faults)
	return s
}

// loose reads the free bodies and scatters the random ones.
func (f *sceneFile) loose(s *Scene, seed uint64, materials map[string]Material, faults *faults) {
	names := places(f.Free, func(b *bodyFile) string { return b.Name })
	for i := range f.Free {
		path := yaml.Path("free").Index(i)
		s.Free = append(s.Free, f.Free[i].body(path, materials, faults))
		if s.Free[i].Mass == 0 {
			faults.add(path, "got no mass, want mass_kg or density_kgm3")
		}
	}
	for i := range f.Scatter {
		path, g := yaml.Path("scatter").Index(i), &f.Scatter[i]
		if k, twice := names[g.Name]; twice {
			faults.Taken(path+".name", g.Name, yaml.Path("free").Index(k))
		}
		faults.count(path+".count", g.Count, maxLoose-len(s.Free))
		material, known := faults.material(path+".material", g.Material, materials)
		if known && faults.Clean(path) {
			s.Free = append(s.Free, g.stones(&seed, material)...)
		}
	}
}

// stones draws the boxes, in the order in which the original draws them: sizes, then places.
func (f *scatterFile) stones(seed *uint64, material Material) []Body {
	draw := func(v [2]float64) float64 { return v[0] + float64((v[1]-v[0])*actuator.Uniform(seed)) }
	var stones []Body
	for i := range f.Count {
		size := vec{draw(f.SizeX), draw(f.SizeY), draw(f.SizeZ)}
		at := vec{draw(f.X), draw(f.Y), draw(f.Z) + size[2]/2}
		if f.Overhang {
			at[0] += float64(size[0] * (actuator.Uniform(seed) - 0.5))
			at[1] += float64(size[1] * (actuator.Uniform(seed) - 0.5))
		}
		b := Body{
			Name: fmt.Sprintf("%s-%d", f.Name, i),
			Pose: hal.Pose{Position: at, Rotation: [4]float64{1}},
			Shapes: []Shape{{
				Kind: Box, Half: scale(0.5, size), Pose: hal.Pose{Rotation: [4]float64{1}},
				Material: material, Collides: true,
			}},
		}
		b.weigh([]float64{f.Density * b.Shapes[0].Volume()})
		stones = append(stones, b)
	}
	return stones
}

func (f *fieldFile) field(path yaml.Path, materials map[string]Material, faults *faults) Field {
	out := Field{Name: f.Name, Position: f.At}
	out.Material, _ = faults.material(path+".material", f.Material, materials)
	switch {
	case f.Formula != "" && faults.Has(path+".heights_m"):
		faults.add(path, "got formula and heights_m, want either")
	case faults.Has(path+".heights_m") && faults.Clean(path+".heights_m"):
		f.rows(path+".heights_m", &out, faults)
	case f.Formula != "" && faults.Clean(path+".samples"):
		out.Columns, out.Rows = f.Samples[0], f.Samples[1]
		out.Heights = make([]float64, 0, out.Columns*out.Rows)
		for j := range out.Rows {
			for i := range out.Columns {
				fx := float64(2*i)/float64(out.Columns-1) - 1
				fy := 1 - float64(2*j)/float64(out.Rows-1) // it begins at the greatest y
				out.Heights = append(out.Heights, cosineHills(fx, fy))
			}
		}
	}
	if out.Columns > 1 && out.Rows > 1 {
		out.Spacing = [2]float64{f.Size[0] / float64(out.Columns-1), f.Size[1] / float64(out.Rows-1)}
	}
	return out
}

// rows takes the heights of the file.
func (f *fieldFile) rows(path yaml.Path, out *Field, faults *faults) {
	if out.Rows = len(f.Heights); out.Rows > 0 {
		out.Columns = len(f.Heights[0])
	}
	if out.Rows < 2 || out.Columns < 2 {
		faults.add(path, "got %d rows of %d, want 2 to 1024 of both", out.Rows, out.Columns)
		return
	}
	for j, row := range f.Heights {
		if len(row) != out.Columns {
			faults.add(path.Index(j), "got %d heights, want %d", len(row), out.Columns)
			return
		}
		out.Heights = append(out.Heights, row...)
	}
}

// cosineHills is the height, m, of Simloid's scene 2 at fx and fy, which run from -1 to 1 across the field: bumps that
// grow with fy and fall off to both sides. Rounding to a nanometre removes differences between machines.
func cosineHills(fx, fy float64) float64 {
	across := float64(0.5*math.Tanh(4*exact.Cos(2.0/3*math.Pi*fx))) + 0.5
	c := exact.Cos(4.5 * math.Pi / (fy + 2))
	h := 0.0001 + float64(0.5*across*(fy+1)*c*c)
	return math.Round(h*1e9) / 1e9
}
