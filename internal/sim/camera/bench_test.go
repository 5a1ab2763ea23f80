package camera

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// BenchmarkRay casts a ray of the front camera without light: the lower bound of the cost of a pixel, for any scene.
func BenchmarkRay(b *testing.B) {
	r, poses := bench(b)
	v := r.newView(&front, poses)
	var rays []ray.Ray
	for j := range v.Height {
		d := v.corner.Along(float64(j), v.down).Along(float64(j), v.right)
		rays = append(rays, ray.Ray{Origin: v.eye.Array(), Direction: d.Array(), Max: 1000, Mask: 1})
	}
	for i := 0; b.Loop(); i++ {
		r.bvh.Cast(&rays[i%len(rays)])
	}
}

// BenchmarkPicture is one picture in one goroutine; ratio is its cost over that of its bare rays, cast in turns with
// it: 1 at best.
func BenchmarkPicture(b *testing.B) {
	for _, c := range []Camera{front, depth} {
		b.Run(c.Name, func(b *testing.B) {
			r, poses := bench(b)
			v := r.newView(&c, poses)
			p := &hal.Picture{Width: c.Width, Height: c.Height}
			if c.Depth {
				p.Depth = make([]float32, c.Width*c.Height)
			} else {
				p.RGB = make([]byte, 3*c.Width*c.Height)
			}
			var t tally
			if c.Detects {
				t = make(tally, len(r.things))
			}
			pixels := float64(c.Width * c.Height)
			var spent, bare time.Duration
			for b.Loop() {
				start := time.Now()
				t.clear()
				for j := range c.Height {
					r.row(&v, j, p, t)
				}
				r.sights(nil, &v, t)
				half := time.Now()
				for j := range c.Height {
					d := v.corner.Along(float64(j), v.down)
					for range c.Width {
						r.bvh.Cast(&ray.Ray{Origin: v.eye.Array(), Direction: d.Array(), Max: 1000, Mask: 1})
						d = d.Add(v.right)
					}
				}
				spent, bare = spent+half.Sub(start), bare+time.Since(half)
			}
			one := spent.Seconds() / float64(b.N)
			b.ReportMetric(1/one, "frames/s")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1e9*one/pixels, "ns/pixel")
			b.ReportMetric(float64(spent)/float64(bare), "ratio")
		})
	}
}

// BenchmarkRenderer is what a viewer gets, with all workers.
func BenchmarkStudio(b *testing.B) {
	st := studio(b, pool(0.05), Workers, front, depth)
	for i, c := range []Camera{front, depth} {
		b.Run(c.Name, func(b *testing.B) {
			w, err := st.Watch(i)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			poses := at(0, 0, -1.8, 0, 0)
			for b.Loop() {
				st.Push(0, poses)
				p, err := w.Next(b.Context(), 0)
				if err != nil {
					b.Fatal(err)
				}
				p.Release()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

// BenchmarkPush is what a watched camera costs the cycle.
func BenchmarkPush(b *testing.B) {
	st := studio(b, pool(0.05), Workers, front)
	poses := at(0, 0, -1.8, 0, 0)
	for b.Loop() {
		st.Push(0, poses)
	}
}

func bench(b *testing.B) (*renderer, []collide.Pose) {
	r, err := newRenderer(pool(0.05), 1)
	if err != nil {
		b.Fatal(err)
	}
	poses := at(0, 0, -1.8, 0, 0)
	r.place(poses)
	return r, poses
}

// BenchmarkFrame is one picture of the front camera in one goroutine, alone.
func BenchmarkFrame(b *testing.B) {
	r, poses := bench(b)
	p := &hal.Picture{Width: front.Width, Height: front.Height, RGB: make([]byte, 3*front.Width*front.Height)}
	t := make(tally, len(r.things))
	for b.Loop() {
		v := r.newView(&front, poses)
		t.clear()
		for j := range front.Height {
			r.row(&v, j, p, t)
		}
		r.sights(nil, &v, t)
	}
}
