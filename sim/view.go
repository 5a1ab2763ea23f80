package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/camera"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// gallery renders the pictures of the scene's cameras. Its studio is opened for the first viewer, and again if the
// scene has other bodies; open watches continue then, and the numbers of the pictures keep rising.
type gallery struct {
	making sync.Mutex // held while a studio is made; taken before mu

	mu      sync.Mutex // held for microseconds: the cycle takes it
	scene   camera.Scene
	cameras []camera.Camera
	owners  []eye            // one a camera
	bodies  int              // of the system
	studio  *camera.Renderer // nil: no viewer yet, or it is being replaced
	fault   error            // why it could not be made
	changes int              // counts the changes of scene
	closed  bool
	change  chan struct{} // closed when studio is no longer the one to watch

	viewers int            // open watches
	poses   []collide.Pose // of the newest snapshot, kept for the next studio
	shown   time.Duration  // its time; below 0 = no snapshot
}

// eye is the owner of a camera and the numbering of its pictures.
type eye struct {
	vehicle     string
	camera      int    // of the vehicle
	base, given uint64 // added to the studio's numbers; the greatest that was given away
}

// updateGallery makes the gallery that of the present system, if there is one. An old studio ends when its picture
// does.
func (s *Scene) updateGallery() {
	g := &s.gallery
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changes++
	g.drop()
	old := g.owners
	g.scene, g.cameras, g.owners, g.bodies, g.shown = camera.Scene{}, nil, nil, 0, -1
	if s.system != nil {
		g.scene, g.bodies = s.visible(), s.system.Model().Bodies()
	}
	g.poses = make([]collide.Pose, g.bodies)
	add := func(owner string, cameras []camera.Camera) {
		for i, c := range cameras {
			e := eye{vehicle: owner, camera: i}
			for _, was := range old {
				if was.vehicle == owner && was.camera == i {
					e.base, e.given = was.given, was.given
				}
			}
			g.cameras, g.owners = append(g.cameras, c), append(g.owners, e)
		}
	}
	for _, v := range s.vehicles {
		add(v.name, v.model.Cameras(v.at.body))
	}
	for _, b := range s.bodies {
		add(b.name, b.cameras())
	}
}

// drop ends the studio, if there is one. Under the lock.
func (g *gallery) drop() {
	if g.studio != nil {
		g.studio.Close()
		close(g.change)
		g.studio = nil
	}
	g.fault = nil
}

// Close ends all pictures and waits for the renderer. The scene's bodies stay usable.
func (s *Scene) Close() {
	s.gallery.mu.Lock()
	defer s.gallery.mu.Unlock()
	s.gallery.closed = true
	s.gallery.drop()
}

// show passes the poses of the bodies to the studio, once a cycle, if there are viewers.
func (g *gallery) show(system *dynamics.System, now time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.viewers == 0 || g.shown == now {
		return
	}
	for i := range g.poses {
		g.poses[i] = system.Pose(i)
	}
	g.shown = now
	if g.studio != nil {
		g.studio.Push(now, g.poses)
	}
}

// Deferrable reports whether no camera has a viewer; see hal.Deferrable.
func (s *Scene) Deferrable() bool {
	s.gallery.mu.Lock()
	defer s.gallery.mu.Unlock()
	return s.gallery.viewers == 0
}

// enter counts a new viewer, n = 1, or a leaving one, -1. Without viewers the last snapshot becomes invalid.
func (g *gallery) enter(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.viewers += n; g.viewers == 0 {
		g.shown = -1
	}
}

// catchUp pushes the last snapshot of the previous studio to one that has just been opened.
func (g *gallery) catchUp(studio *camera.Renderer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.studio == studio && g.shown >= 0 {
		studio.Push(g.shown, g.poses)
	}
}

var errGone = errors.New("it is gone")

// open returns the studio, the number of an owner's camera in it, and a channel that is closed when another studio
// replaces it.
func (g *gallery) open(vehicle string, index int) (*camera.Renderer, int, chan struct{}, error) {
	g.making.Lock()
	defer g.making.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.studio == nil && g.fault == nil && !g.closed {
		// The lock is not held meanwhile, so the studio may be outdated when it is made.
		scene, bodies, cameras, changes := g.scene, g.bodies, g.cameras, g.changes
		g.mu.Unlock()
		studio, err := camera.New(&scene, bodies, cameras, 0)
		g.mu.Lock()
		switch {
		case changes == g.changes && !g.closed:
			g.studio, g.fault, g.change = studio, err, make(chan struct{})
		case err == nil:
			studio.Close()
		}
	}
	if g.fault != nil {
		return nil, 0, nil, g.fault
	}
	for i := range g.owners {
		if !g.closed && g.owners[i].vehicle == vehicle && g.owners[i].camera == index {
			return g.studio, i, g.change, nil
		}
	}
	return nil, 0, nil, &hal.Error{Kind: hal.Absent, Op: fmt.Sprintf("camera %d of %s", index, vehicle), Err: errGone}
}

// Watch opens a stream of one of the vehicle's cameras; see hal.CameraSource. Pictures are rendered only while there is
// one.
func (v *Vehicle) Watch(index int) (hal.ImageStream, error) {
	return v.scene.gallery.watch(v.name, index)
}

// watch opens a stream of a camera of the robot or vehicle called owner.
func (g *gallery) watch(owner string, index int) (hal.ImageStream, error) {
	w := &viewer{gallery: g, vehicle: owner, index: index}
	g.enter(1)
	if err := w.reopen(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// viewer is a watch that outlives studios. Next and Close may be called concurrently.
type viewer struct {
	gallery *gallery
	vehicle string
	index   int

	mu     sync.Mutex
	at     int // of the studio's cameras
	in     hal.ImageStream
	change chan struct{}
	closed bool
}

// reopen watches the present studio's camera.
func (w *viewer) reopen() error {
	studio, at, change, err := w.gallery.open(w.vehicle, w.index)
	if err != nil {
		return err
	}
	in, err := studio.Watch(at)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		in.Close()
		return errGone
	}
	w.at, w.in, w.change = at, in, change
	w.gallery.catchUp(studio)
	return nil
}

// Next is that of hal.ImageStream.
func (w *viewer) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	for {
		w.mu.Lock()
		in, at, change, closed := w.in, w.at, w.change, w.closed
		w.mu.Unlock()
		if closed {
			return nil, errGone
		}
		base := w.gallery.base(w.vehicle, w.index)
		p, err := in.Next(ctx, after-min(after, base))
		if err == nil {
			return w.gallery.number(at, w.vehicle, base, p), nil
		}
		select {
		case <-change: // another studio has taken over
			if err := w.reopen(); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

func (g *gallery) base(vehicle string, index int) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.owners {
		if g.owners[i].vehicle == vehicle && g.owners[i].camera == index {
			return g.owners[i].base
		}
	}
	return 0
}

// number gives a picture of the studio the number that its viewers know it by.
func (g *gallery) number(at int, vehicle string, base uint64, p *hal.Picture) *hal.Picture {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at < len(g.owners) && g.owners[at].vehicle == vehicle {
		g.owners[at].given = max(g.owners[at].given, base+p.Sequence)
	}
	if base == 0 {
		return p
	}
	q := *p
	q.Sequence += base
	q.Free = func(*hal.Picture) { p.Release() }
	return &q
}

// Close ends the watch and a Next that waits in it.
func (w *viewer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	if w.in != nil {
		w.in.Close()
	}
	w.gallery.enter(-1)
}
