package model

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/exact"
)

// Scene is a world to stand in. Nobody changes it after ParseScene.
type Scene struct {
	Name    string
	Title   string
	Simloid int       // the id by which Simloid's clients ask for it; hal.None for all others
	Ground  *Material // of the plane z = 0, solid below; nil: there is none
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
	// Columns of samples go along x, Rows along y: sample (i, j) stands at
	// ((i - (Columns-1)/2) Spacing[0], (j - (Rows-1)/2) Spacing[1]) from the middle.
	Columns, Rows int
	Spacing       [2]float64 // m
	Heights       []float64  // m, Heights[j*Columns+i]
	Material      Material
}

// ParseScene reads a scene file, of at most 4 MiB, as Parse reads a robot. The seed decides what the file leaves to
// chance: the same seed, the same stones, on every machine.
func ParseScene(b []byte, seed int64) (*Scene, error) {
	var f sceneFile
	var faults faults
	if !read(&faults, b, &f, "scene") {
		return nil, faults.err("scene")
	}
	s := f.scene(uint64(seed), &faults)
	if err := faults.err("scene"); err != nil {
		return nil, err
	}
	return s, nil
}

func (f *sceneFile) scene(seed uint64, faults *faults) *Scene {
	s := &Scene{Name: f.Name, Title: f.Title, Simloid: hal.None}
	if !namePattern.MatchString(f.Name) {
		faults.add("name: got %q, want lower-case letters, digits, - and _", f.Name)
	}
	if f.Simloid != nil {
		s.Simloid = *f.Simloid
		faults.number("simloid", float64(s.Simloid), 0, 999)
	}
	materials := readMaterials(f.Materials, faults)
	if f.Ground != "" {
		m, ok := materials[f.Ground]
		if s.Ground = &m; !ok {
			faults.add("ground: got %q, want the name of a material", f.Ground)
		}
	}
	if faults.count("fixed", len(f.Fixed), maxFixed) {
		for i := range f.Fixed {
			s.Fixed = append(s.Fixed, f.Fixed[i].shape(fmt.Sprintf("fixed[%d]", i), materials, faults))
		}
	}
	if faults.count("fields", len(f.Fields), maxShapes) {
		for i := range f.Fields {
			s.Fields = append(s.Fields, f.Fields[i].field(fmt.Sprintf("fields[%d]", i), materials, faults))
		}
	}
	f.loose(s, seed, materials, faults)
	f.wet(s, faults)
	f.objects(s, materials, faults)
	s.Course = f.Course.course(faults)
	s.GroundZ = f.GroundZ
	faults.number("ground_m", f.GroundZ, -maxLength, maxLength)
	f.Arena.arena(s, materials, faults)
	return s
}

// loose reads the free bodies and scatters the random ones.
func (f *sceneFile) loose(s *Scene, seed uint64, materials map[string]Material, faults *faults) {
	if !faults.count("free", len(f.Free), maxLoose) || !faults.count("scatter", len(f.Scatter), maxShapes) {
		return
	}
	names := map[string]int{}
	for i := range f.Free {
		path := fmt.Sprintf("free[%d]", i)
		faults.name(path, "free", f.Free[i].Name, i, names)
		s.Free = append(s.Free, f.Free[i].body(path, materials, faults))
		if s.Free[i].Mass == 0 {
			faults.add("%s: %q weighs nothing, want mass_kg or density_kgm3", path, f.Free[i].Name)
		}
	}
	for i := range f.Scatter {
		path, g := fmt.Sprintf("scatter[%d]", i), &f.Scatter[i]
		faults.name(path, "free or scatter", g.Name, i, names)
		ok := g.check(path, maxLoose-len(s.Free), faults)
		material, known := materials[g.Material]
		if !known {
			faults.add("%s.material: got %q, want the name of a material", path, g.Material)
		}
		if ok && known {
			s.Free = append(s.Free, g.stones(&seed, material)...)
		}
	}
}

func (f *scatterFile) check(path string, room int, faults *faults) bool {
	before := len(*faults)
	faults.number(path+".count", float64(f.Count), 1, float64(room))
	faults.positive(path+".density_kgm3", f.Density, 1e5)
	span := func(key string, v []float64, low float64) {
		if len(v) != 2 || !(v[0] <= v[1]) || !(v[0] >= low) || !(v[1] <= maxLength) {
			faults.add("%s.%s: got %v, want two rising numbers from %g to %g", path, key, v, low, maxLength)
		}
	}
	const least = 1e-4
	span("size_x_m", f.SizeX, least)
	span("size_y_m", f.SizeY, least)
	span("size_z_m", f.SizeZ, least)
	span("x_m", f.X, -maxLength)
	span("y_m", f.Y, -maxLength)
	span("z_m", f.Z, -maxLength)
	return len(*faults) == before
}

// stones draws the boxes, in the order in which the original draws them: sizes, then places.
func (f *scatterFile) stones(seed *uint64, material Material) []Body {
	draw := func(v []float64) float64 { return v[0] + float64((v[1]-v[0])*uniform(seed)) }
	var stones []Body
	for i := range f.Count {
		size := vec{draw(f.SizeX), draw(f.SizeY), draw(f.SizeZ)}
		at := vec{draw(f.X), draw(f.Y), draw(f.Z) + size[2]/2}
		if f.Overhang {
			at[0] += float64(size[0] * (uniform(seed) - 0.5))
			at[1] += float64(size[1] * (uniform(seed) - 0.5))
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

// uniform draws a number from 0 to 1 (splitmix64: Steele, Lea and Flood, OOPSLA 2014).
func uniform(seed *uint64) float64 {
	*seed += 0x9e3779b97f4a7c15
	z := *seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}

func (f *fieldFile) field(path string, materials map[string]Material, faults *faults) Field {
	out := Field{Name: f.Name, Position: faults.point(path+".at_m", f.At)}
	var known bool
	if out.Material, known = materials[f.Material]; !known {
		faults.add("%s.material: got %q, want the name of a material", path, f.Material)
	}
	if len(f.Size) != 2 || !(f.Size[0] > 0 && f.Size[1] > 0 && f.Size[0] <= maxLength && f.Size[1] <= maxLength) {
		faults.add("%s.size_m: got %v, want two numbers above 0: along x, along y", path, f.Size)
		return out
	}
	switch {
	case (f.Formula == "") == (f.Heights == nil):
		faults.add("%s: want either formula or heights_m", path)
		return out
	case f.Formula == "":
		f.rows(path, &out, faults)
	case f.Formula != "cosine-hills":
		faults.add("%s.formula: got %q, want cosine-hills", path, f.Formula)
	case len(f.Samples) != 2 || min(f.Samples[0], f.Samples[1]) < 2 || max(f.Samples[0], f.Samples[1]) > 1024:
		faults.add("%s.samples: got %v, want two numbers of 2 to 1024: along x, along y", path, f.Samples)
	default:
		out.Columns, out.Rows = f.Samples[0], f.Samples[1]
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
func (f *fieldFile) rows(path string, out *Field, faults *faults) {
	if out.Rows = len(f.Heights); out.Rows > 0 {
		out.Columns = len(f.Heights[0])
	}
	if out.Rows < 2 || out.Columns < 2 || out.Rows > 1024 || out.Columns > 1024 {
		faults.add("%s.heights_m: got %d rows of %d, want 2 to 1024 of both", path, out.Rows, out.Columns)
		return
	}
	for j, row := range f.Heights {
		if len(row) != out.Columns {
			faults.add("%s.heights_m[%d]: got %d heights, want %d", path, j, len(row), out.Columns)
			return
		}
		for _, h := range row {
			if !(math.Abs(h) <= maxLength) {
				faults.add("%s.heights_m[%d]: got %g, want at most %g", path, j, h, maxLength)
				return
			}
		}
		out.Heights = append(out.Heights, row...)
	}
}

// cosineHills is the height, m, of Simloid's scene 2 at fx and fy, which run from -1 to 1 across the field: bumps that
// grow with fy and fall off to both sides. Rounding to a nanometre takes away what machines differ by.
func cosineHills(fx, fy float64) float64 {
	across := float64(0.5*math.Tanh(4*exact.Cos(2.0/3*math.Pi*fx))) + 0.5
	c := exact.Cos(4.5 * math.Pi / (fy + 2))
	h := 0.0001 + float64(0.5*across*(fy+1)*c*c)
	return math.Round(h*1e9) / 1e9
}
