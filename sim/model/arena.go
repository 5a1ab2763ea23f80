package model

import (
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Arena holds the data of a scene for rescue robots in addition to its shapes and the starts of its course.
type Arena struct {
	Level   string // its name for USARSim's clients: "DM-USAR_yellow"
	Tags    []Tag
	Victims []Victim
	// The light for cameras: Daylight is the sun's and the sky's share of a clear day, 0..1, default 1.
	Daylight float64
	Lights   []Light
}

// Light is a light that hangs in the arena and shines into a cone.
type Light struct {
	At, Towards [3]float64 // m; a direction
	Half        float64    // rad, half the cone's angle
	Power       float64    // light on a surface that faces it from 1 m; 1 = a clear day
}

// Tag is an RFID tag.
type Tag struct {
	ID     int // 0 to 1000; tags that robots drop have greater ones
	At     [3]float64
	Single bool // it answers one reader once
}

// Victim is a victim to find, or a false alarm: a position that a victim sensor reports. Its body, if it has one, is
// among the scene's shapes.
type Victim struct {
	Name, State string // "Jim", "unconscious"
	At          [3]float64
	False       bool    // no victim: FalsePositive
	Loudness    float64 // of its voice a metre away; 0 = silent
	Call, Pause float64 // s, how long it calls and how long not
	Amplitude   float64 // m, amplitude of its moving part; 0 = it does not move
	Period      float64 // s, of that motion
	Segments    []Segment
	Parts       []Part // of its body; of a false alarm one
}

// Part is a part of a victim's body under the name that a victim sensor reports: Head, Chest, Pelvis, Leg, Foot.
type Part struct {
	Name string
	At   [3]float64 // its middle in the scene, at rest
}

// arenaFile is an Arena as written, in the scene's file.
type arenaFile struct {
	Level    string       `yaml:"level"`
	Tags     []tagFile    `yaml:"tags" count:"4096" unique:"id"`
	Victims  []victimFile `yaml:"victims" count:"4096"`
	Plans    []planFile   `yaml:"plans" count:"64"`
	Fences   []fenceFile  `yaml:"fences" count:"4096"`
	Daylight float64      `yaml:"daylight" default:"1" min:"0" max:"1"`
	Lights   []lightFile  `yaml:"lights" count:"64"` // each costs every pixel
}

type lightFile struct {
	At      [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
	Towards [3]float64 `yaml:"towards" default:"[0, 0, -1]" min:"-1e4" max:"1e4"`
	Half    float64    `yaml:"half_deg" required:"true" above:"0" max:"180"`
	Power   float64    `yaml:"power" min:"0" max:"1e4"`
}

type tagFile struct {
	ID     int        `yaml:"id" min:"0" max:"1000"`
	At     [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
	Single bool       `yaml:"single_shot"`
}

type victimFile struct {
	Name      string        `yaml:"name"`
	State     string        `yaml:"state"`
	At        [3]float64    `yaml:"at_m" min:"-1e4" max:"1e4"`
	Turn      float64       `yaml:"turn_deg" min:"-360" max:"360"` // about z: where its head points
	False     bool          `yaml:"false_positive"`
	Loudness  float64       `yaml:"loudness" min:"0" max:"1e4"`
	Call      float64       `yaml:"call_s" min:"0" max:"1e4"`
	Pause     float64       `yaml:"pause_s" min:"0" max:"1e4"`
	Amplitude float64       `yaml:"moves_m" min:"0" max:"1e4"`
	Period    float64       `yaml:"period_s" min:"0" max:"1e4"`
	Material  string        `yaml:"material"`
	Segments  []segmentFile `yaml:"segments" count:"8" unique:"name"`
}

// planFile is a floor plan drawn with letters. Its lines are alternately posts and walls:
//
//	+--+--+
//	|     |
//	+  +==+        - | wall   = ! glass   + a post, part of the adjacent walls
//	|     |
//	+--+--+
//
// Cells are two letters wide and one high; the first line is the wall at the greatest y.
type planFile struct {
	// the corner of least x and y, at the walls' foot
	At        [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
	Cell      float64    `yaml:"cell_m" required:"true" above:"0" max:"100"` // from post to post
	Height    float64    `yaml:"height_m" required:"true" above:"0" max:"100"`
	Thickness float64    `yaml:"thickness_m" required:"true" above:"0" max:"10"`
	Material  string     `yaml:"material"`
	Glass     string     `yaml:"glass"` // the material of = and !
	Rows      []string   `yaml:"rows" count:"999"`
}

// arena reads the rescue data of the scene's file, and adds walls and victims to s's shapes.
func (f *arenaFile) arena(s *Scene, materials map[string]Material, faults *faults) {
	s.Arena.Level, s.Arena.Daylight = f.Level, f.Daylight
	if f.Level != "" {
		faults.word("level", f.Level)
	}
	for _, t := range f.Tags {
		s.Arena.Tags = append(s.Arena.Tags, Tag(t))
	}
	for i := range f.Victims {
		f.Victims[i].victim(yaml.Path("victims").Index(i), s, materials, faults)
	}
	for i, l := range f.Lights {
		if l.Towards == ([3]float64{}) {
			faults.add(yaml.Path("lights").Index(i).Key("towards"), "no direction")
		}
		s.Arena.Lights = append(s.Arena.Lights, Light{At: l.At, Towards: l.Towards, Half: radians(l.Half),
			Power: l.Power})
	}
	for i := range f.Fences {
		f.Fences[i].bars(yaml.Path("fences").Index(i), s, materials, faults)
	}
	for i := range f.Plans {
		f.Plans[i].walls(yaml.Path("plans").Index(i), s, materials, faults)
	}
}

func (f *victimFile) victim(path yaml.Path, s *Scene, materials map[string]Material, faults *faults) {
	v := Victim{Name: f.Name, State: f.State, At: f.At, False: f.False,
		Loudness: f.Loudness, Call: f.Call, Pause: f.Pause, Amplitude: f.Amplitude, Period: f.Period}
	if !f.False {
		faults.word(path+".name", f.Name)
	}
	if f.State != "" {
		faults.word(path+".state", f.State)
	}
	if f.Amplitude > 0 && !(f.Period > 0) || f.Loudness > 0 && !(f.Call > 0) {
		faults.add(path, "got moves_m %g and loudness %g, want period_s and call_s with them", f.Amplitude, f.Loudness)
	}
	material, _ := faults.material(path+".material", f.Material, materials)
	moving := f.segments(path, &v, material, faults)
	v.parts(radians(f.Turn))
	s.Arena.Victims = append(s.Arena.Victims, v)
	if f.False {
		return
	}
	// A body that lies on its back, the place being that of its chest.
	turn := radians(f.Turn)
	sin, cos := math.Sincos(turn)
	lie := rollPitchYaw(0, math.Pi/2, turn) // a capsule's z along the body
	part := func(kind ShapeKind, along, across, radius, length float64) {
		at := vec{v.At[0] + along*cos - across*sin, v.At[1] + along*sin + across*cos, v.At[2]}
		s.Fixed = append(s.Fixed, Shape{Kind: kind, Radius: radius, Half: [3]float64{0, 0, length / 2},
			Pose: hal.Pose{Position: at, Rotation: lie}, Material: material, Collides: true})
	}
	part(Capsule, 0, 0, 0.13, 0.3)
	// A moving part is not added as a fixed one.
	if !moving["head"] {
		part(Sphere, 0.38, 0, 0.11, 0)
	}
	if !moving["left_leg"] {
		part(Capsule, -0.6, 0.1, 0.07, 0.65)
	}
	if !moving["right_leg"] {
		part(Capsule, -0.6, -0.1, 0.07, 0.65)
	}
}

// walls turns the drawing into boxes: each straight run of wall is one.
func (f *planFile) walls(path yaml.Path, s *Scene, materials map[string]Material, faults *faults) {
	wall, _ := faults.material(path+".material", f.Material, materials)
	glass, _ := faults.material(path+".glass", f.Glass, materials)
	width := 0
	for _, row := range f.Rows {
		width = max(width, len(row))
	}
	if len(f.Rows)%2 != 1 || width%3 != 1 || width > 999 || len(f.Rows) > 999 {
		faults.add(path+".rows", "got %d lines of %d letters, want an odd number of lines of 1 + 3n", len(f.Rows),
			width)
	}
	for i, row := range f.Rows {
		if k := strings.IndexFunc(row, func(c rune) bool { return !strings.ContainsRune(" +-|=!", c) }); k >= 0 {
			faults.add((path + ".rows").Index(i), "got %q, want - | = ! + and blanks", row[k:])
		}
	}
	if !faults.Clean(path) {
		return
	}
	d := drawing{rows: f.Rows, bottom: len(f.Rows) - 1}
	box := func(x0, y0, x1, y1 float64, m Material) {
		half := f.Thickness / 2
		s.Fixed = append(s.Fixed, Shape{Kind: Box, Collides: true, Material: m,
			Half: [3]float64{(x1-x0)/2*f.Cell + half, (y1-y0)/2*f.Cell + half, f.Height / 2},
			Pose: hal.Pose{Rotation: [4]float64{1}, Position: [3]float64{
				f.At[0] + (x0+x1)/2*f.Cell, f.At[1] + (y0+y1)/2*f.Cell, f.At[2] + f.Height/2}}})
	}
	d.runs(width/3, '-', '=', d.across, func(line, from, to int, clear bool) {
		box(float64(from), float64(line), float64(to), float64(line), choose(clear, glass, wall))
	})
	d.runs(len(f.Rows)/2, '|', '!', d.up, func(line, from, to int, clear bool) {
		box(float64(line), float64(from), float64(line), float64(to), choose(clear, glass, wall))
	})
	faults.count(path, len(s.Fixed), maxFixed)
}

func choose(first bool, a, b Material) Material {
	if first {
		return a
	}
	return b
}

// drawing is a plan by posts: (0, 0) is the one of least x and y.
type drawing struct {
	rows   []string
	bottom int
}

// letter is the character in a line at a column, a blank beyond its end.
func (d *drawing) letter(line, column int) byte {
	if line < 0 || line > d.bottom || column >= len(d.rows[line]) {
		return ' '
	}
	return d.rows[line][column]
}

// across is the wall along x in line y from post x on; up is the wall along y in column x from post y on.
func (d *drawing) across(y, x int) byte { return d.letter(d.bottom-2*y, 3*x+1) }
func (d *drawing) up(x, y int) byte     { return d.letter(d.bottom-2*y-1, 3*x) }

// runs calls found for each run of the same wall, line after line; a line without any beyond the drawing ends it.
func (d *drawing) runs(cells int, wall, glass byte, at func(line, cell int) byte,
	found func(line, from, to int, clear bool)) {
	for line := range 1000 {
		from, kind := 0, byte(' ')
		for cell := range cells + 1 {
			k := byte(' ')
			if cell < cells {
				if c := at(line, cell); c == wall || c == glass {
					k = c
				}
			}
			if k == kind {
				continue
			}
			if kind != ' ' {
				found(line, from, cell, kind == glass)
			}
			from, kind = cell, k
		}
	}
}
