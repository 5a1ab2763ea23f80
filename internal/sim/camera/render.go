package camera

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// renderer is a scene made ready to be seen. place and begin are for one goroutine, row for any number between them.
type renderer struct {
	bvh    *ray.BVH
	geoms  []collide.Geom
	frames []collide.Frame
	coats  []coat
	optics optics
	screen screen
	lights []Light
	lit    []lit
	things []object
	owner  []int16 // thing of each geom, or -1
	// Of the last view: the candidate geoms of each tile, of tile i sieve[starts[i]:starts[i+1]].
	sieve, starts []int32
}

func newRenderer(s *Scene, bodies int) (*renderer, error) {
	faults := []error{s.check()}
	for i := range s.Geoms {
		if s.Geoms[i].Body >= bodies {
			faults = append(faults, fmt.Errorf("geoms[%d]: body: got %d, want below %d", i, s.Geoms[i].Body, bodies))
		}
	}
	for i := range s.Lights {
		if s.Lights[i].Body >= bodies {
			faults = append(faults, fmt.Errorf("lights[%d]: body: got %d, want below %d", i, s.Lights[i].Body, bodies))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	// The tree of moving geoms keeps the structure built from these poses; only its boxes are updated. Few bodies move,
	// so any structure is good enough.
	still := slices.Repeat([]collide.Pose{collide.Identity()}, bodies)
	bvh, err := ray.New(s.Geoms, still)
	if err != nil {
		return nil, err
	}
	r := &renderer{
		bvh: bvh, geoms: slices.Clone(s.Geoms), frames: make([]collide.Frame, len(s.Geoms)), optics: s.optics(),
		lights: slices.Clone(s.Lights), lit: make([]lit, len(s.Lights)), owner: make([]int16, len(s.Geoms)),
	}
	for i := range s.Paints {
		p := &s.Paints[i]
		r.coats = append(r.coats, coat{linear(p.Colour), linear(p.Second), p.Pattern, p.Size, p.Mirror})
		r.owner[i] = -1
	}
	for i := range s.Things {
		t := &s.Things[i]
		r.things = append(r.things, newThing(t, s.Geoms))
		for _, g := range t.Geoms {
			r.owner[g] = int16(i)
		}
	}
	r.screen.fill()
	r.place(still)
	return r, nil
}

// place sets the poses of the bodies.
func (r *renderer) place(poses []collide.Pose) {
	r.bvh.Update(poses)
	// Patterns and samples are fixed to the geoms, so their frames are stored in addition to the tree's.
	for i := range r.geoms {
		r.frames[i], _ = r.geoms[i].Frame(pose(poses, r.geoms[i].Body))
	}
	for i := range r.lights {
		l := &r.lights[i]
		f := frame(pose(poses, l.Body), hal.Pose{Position: l.Position})
		d := f.Turn.Of(r3.Pack(l.Direction))
		r.lit[i] = lit{f.At, d.Mul(1 / d.Norm()), exact.Cos(l.Half), l.Power}
	}
}

func pose(poses []collide.Pose, body int) collide.Pose {
	if body < 0 {
		return collide.Identity()
	}
	return poses[body]
}

// frame is a mount on a body.
func frame(body collide.Pose, mount hal.Pose) collide.Frame {
	g := collide.Geom{Local: collide.Pose{Position: mount.Position, Rotation: mount.Rotation}}
	f, _ := g.Frame(body) // for a pose without a rotation f is the zero Frame
	return f
}

// view is a camera where it is now.
type view struct {
	*Camera
	frame         collide.Frame
	eye           r3.Vec
	ahead         r3.Vec  // the axis
	right, down   r3.Vec  // from one pixel to the next
	corner        r3.Vec  // direction of the middle of the first pixel; 1 long along the axis
	width, height float64 // half the picture at 1 m
	columns       int     // of tiles
}

// A tile of a picture: rays through it share a list of candidate geoms.
const tileWidth, tileHeight = 16, 12

// tiles lists the candidate geoms of each tile of a view.
func (r *renderer) tiles(v *view) {
	v.columns = (v.Width + tileWidth - 1) / tileWidth
	rows := (v.Height + tileHeight - 1) / tileHeight
	r.sieve, r.starts = r.sieve[:0], append(r.starts[:0], 0)
	for row := range rows {
		for column := range v.columns {
			var corners [4][3]float64
			for k, c := range [...][2]int{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
				// The outer edges of its outermost pixels.
				i, j := float64((column+c[0])*tileWidth)-0.5, float64((row+c[1])*tileHeight)-0.5
				corners[k] = v.corner.Along(j, v.down).Along(i, v.right).Array()
			}
			r.sieve = r.bvh.Within(r.sieve, v.eye.Array(), &corners, v.Mask)
			r.starts = append(r.starts, int32(len(r.sieve)))
		}
	}
}

func (r *renderer) newView(c *Camera, poses []collide.Pose) view {
	v := view{Camera: c, frame: frame(pose(poses, c.Body), c.Mount)}
	v.eye, v.ahead = v.frame.At, v.frame.Turn.Of(r3.Vec{X: 1})
	v.width = exact.Sin(c.FieldOfView/2) / exact.Cos(c.FieldOfView/2)
	// Pixels are square: the height follows from the width.
	pixel := 2 * v.width / float64(c.Width)
	v.height = v.width * float64(c.Height) / float64(c.Width)
	v.right = v.frame.Turn.Of(r3.Vec{Y: -pixel})
	v.down = v.frame.Turn.Of(r3.Vec{Z: -pixel})
	v.corner = v.ahead.Add(v.frame.Turn.Of(r3.XYZ(0, v.width, v.height))).Along(0.5, v.right).Along(0.5, v.down)
	r.tiles(&v)
	return v
}

// row renders row j of a view into p and counts visible pixels of things in t.
func (r *renderer) row(v *view, j int, p *hal.Picture, t tally) {
	at := j * v.Width
	first, tile := v.corner.Along(float64(j), v.down), j/tileHeight*v.columns
	far := math.Inf(1)
	if v.Far > 0 {
		far = v.Far
	}
	var sheaf ray.Sheaf
	among := 0
	// Without lights and water, a face of one colour has the same light everywhere, and the same light gives the same
	// pixels.
	even := !r.optics.wet && len(r.lit) == 0
	var h, face ray.Hit
	var lit, last r3.Vec
	behind, pixel := false, [3]byte{}
	face.Geom, last.X = -1, math.NaN()
	for i := range v.Width {
		d := first.Along(float64(i), v.right)
		long := d.Norm() // m of ray to 1 m of axis
		if i%tileWidth == 0 {
			k := tile + i/tileWidth
			geoms := r.sieve[r.starts[k]:r.starts[k+1]]
			if among = len(geoms); among <= ray.MaxSheaf {
				sheaf.Aim(r.bvh, geoms, v.eye.Array(), first.Array(), v.right.Array(), float64(i),
					float64(min(i+tileWidth, v.Width)-1))
			}
		}
		hit := false
		if among <= ray.MaxSheaf {
			hit = sheaf.Cast(float64(i), v.Near, far, long, &h)
		} else {
			// For many geoms the tree finds the nearest faster. The ray starts on the near plane, so that nearer geoms
			// are not visible.
			one := ray.Ray{Origin: v.eye.Along(v.Near, d).Array(), Direction: d.Array(), Mask: v.Mask}
			if v.Far > 0 {
				one.Max = float64((v.Far - v.Near) * long)
			}
			h, hit = r.bvh.Cast(&one)
			h.Distance += float64(v.Near * long)
		}
		if p.Depth != nil {
			if p.Depth[at+i] = float32(math.Inf(1)); hit {
				p.Depth[at+i] = float32(h.Distance / long)
			}
		}
		// A depth camera needs the light only for its detector, to compute the visible share of a colour.
		thing := int16(-1)
		if hit && t != nil {
			thing = r.owner[h.Geom]
		}
		if p.RGB == nil && thing < 0 {
			continue
		}
		eye, way, share := v.eye, d.Mul(1/long), 1.0
		if hit && r.coats[h.Geom].mirror {
			hit, share = r.turn(&eye, &way, &h, v.Mask)
		}
		var light, left r3.Vec
		if hit && h.Geom == face.Geom && h.Normal == face.Normal && r3.Pack(h.Normal).Dot(way) > 0 == behind {
			light, left = lit, r3.XYZ(1, 1, 1)
		} else if light, left = r.see(eye, way, &h, hit); hit && even && r.coats[h.Geom].pattern == Plain {
			face, lit, behind = h, light, r3.Pack(h.Normal).Dot(way) > 0
		}
		if share < 1 {
			light = light.Mul(share)
		}
		if p.RGB != nil {
			q := p.RGB[3*(at+i):][:3]
			if light != last {
				pixel, last = [3]byte{r.screen.of(light.X), r.screen.of(light.Y), r.screen.of(light.Z)}, light
			}
			q[0], q[1], q[2] = pixel[0], pixel[1], pixel[2]
		}
		if thing >= 0 {
			t[thing].add(i, j, left)
		}
	}
}
