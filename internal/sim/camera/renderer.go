package camera

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Renderer renders a scene in its own goroutine. The caller of New must Close it.
//
//	cycle:   if studio.Watched() { studio.Push(now, poses) }     a copy under a lock that is only held briefly
//	viewer:  w, _ := studio.Watch(camera); p, err := w.Next(ctx, p.Sequence); ...; p.Release()
//
// A picture is rendered from the newest snapshot when a viewer waits for one, so it is never old: neither for a viewer
// that calls Next once a minute, nor for a client in lock-step after its step. An open Watch without calls of Next
// costs a copy of the poses a cycle.
type Renderer struct {
	renderer *renderer
	eyes     []eye
	bodies   int

	mu      sync.Mutex
	work    sync.Cond // there may be something to render
	done    sync.Cond // there is a picture, or the end
	watched atomic.Int32
	closed  bool
	next    snapshot
	fresh   bool // next has not been taken yet
	valid   bool // the newest snapshot is of this cycle, or was pushed while there were viewers
	shown   snapshot
	pushed  uint64 // the number of the newest snapshot

	crew    sync.WaitGroup
	helpers []helper
	shot    shot
}

// snapshot holds the poses of all bodies at one time.
type snapshot struct {
	number uint64
	time   time.Duration
	poses  []collide.Pose
}

// eye is a camera with its pictures.
type eye struct {
	Camera
	sequence uint64
	newest   *plate // the picture for the viewers; the Renderer has one hold on it
	asked    bool   // a viewer waits for a newer one
	free     []*plate
}

// shot is the picture at work.
type shot struct {
	view    view
	picture *hal.Picture
	row     atomic.Int32
	tally   tally
	helping sync.WaitGroup
}

// helper is a goroutine that renders rows concurrently with the main render goroutine.
type helper struct {
	start chan struct{}
	tally tally
}

// Workers is the default number of goroutines that render.
const Workers = 2

// New makes a studio of a scene with so many bodies, and starts its workers: 0 means Workers. Close ends them. The
// error names all faults of the scene and the cameras.
func New(s *Scene, bodies int, cameras []Camera, workers int) (*Renderer, error) {
	r, err := newRenderer(s, bodies)
	faults := []error{err}
	for i := range cameras {
		c := &cameras[i]
		if err := c.check(); err != nil {
			faults = append(faults, fmt.Errorf("cameras[%d]: %w", i, err))
		}
		if c.Body >= bodies {
			faults = append(faults, fmt.Errorf("cameras[%d]: body: got %d, want below %d", i, c.Body, bodies))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "camera", Err: err}
	}
	if workers <= 0 {
		workers = Workers
	}
	st := &Renderer{renderer: r, bodies: bodies, helpers: make([]helper, workers-1)}
	st.work.L, st.done.L = &st.mu, &st.mu
	for i := range cameras {
		st.eyes = append(st.eyes, eye{Camera: cameras[i]})
	}
	st.next.poses, st.shown.poses = make([]collide.Pose, bodies), make([]collide.Pose, bodies)
	st.shot.tally = make(tally, len(s.Things))
	// A helper waits for its start, renders rows with all others until none is left, and signals that.
	for i := range st.helpers {
		h := &st.helpers[i]
		h.start, h.tally = make(chan struct{}), make(tally, len(s.Things))
		st.crew.Go(func() {
			for range h.start {
				st.rows(h.tally)
				st.shot.helping.Done()
			}
		})
	}
	st.crew.Go(st.direct)
	return st, nil
}

// Close ends all watches and the workers, and waits for them: for the rest of one picture at most. Pictures that are
// held stay good.
func (s *Renderer) Close() {
	s.mu.Lock()
	s.closed = true
	s.work.Broadcast()
	s.done.Broadcast()
	s.mu.Unlock()
	s.crew.Wait()
}

// Watched reports whether there are viewers; without them a cycle need not collect poses. It does not block.
func (s *Renderer) Watched() bool { return s.watched.Load() > 0 }

// Push takes a copy of the poses of all bodies as they are at rig time t. It does not allocate and waits for no
// picture.
func (s *Renderer) Push(t time.Duration, poses []collide.Pose) {
	s.mu.Lock()
	// A snapshot that was not taken yet is overwritten: only the newest is useful.
	s.pushed++
	s.next.number, s.next.time = s.pushed, t
	copy(s.next.poses, poses)
	s.fresh, s.valid = true, true
	s.work.Signal()
	s.mu.Unlock()
}

// direct is the goroutine that decides what to render next.
func (s *Renderer) direct() {
	defer func() {
		for i := range s.helpers {
			close(s.helpers[i].start)
		}
	}()
	turn := 0
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for !s.closed && s.wanted(turn) < 0 {
			s.work.Wait()
		}
		if s.closed {
			return
		}
		// Cameras take turns; each that waits is shown the same snapshot as long as there is no newer one.
		turn = s.wanted(turn)
		e := &s.eyes[turn]
		turn = (turn + 1) % len(s.eyes)
		moved := s.fresh
		// Swapped, not copied: the next Push writes where the renderer no longer looks.
		if s.fresh {
			s.next, s.shown, s.fresh = s.shown, s.next, false
		}
		e.asked = false
		p := s.acquirePlate(e)
		s.mu.Unlock()
		s.render(e, p, moved)
		s.mu.Lock()
		e.publish(p, &s.shown)
		s.done.Broadcast()
	}
}

// wanted is the next camera, from turn on, that a viewer waits for and whose picture is of an older snapshot; or -1.
func (s *Renderer) wanted(turn int) int {
	for k := range s.eyes {
		i := (turn + k) % len(s.eyes)
		if e := &s.eyes[i]; e.asked && s.valid && (e.newest == nil || e.newest.shows < s.pushed) {
			return i
		}
	}
	return -1
}

// render renders e's picture of the snapshot shown into p, with all workers.
func (s *Renderer) render(e *eye, p *plate, moved bool) {
	r, t := s.renderer, &s.shot
	if moved {
		r.place(s.shown.poses)
	}
	t.view, t.picture = r.newView(&e.Camera, s.shown.poses), &p.Picture
	t.row.Store(0)
	// The director renders too, so a studio of one worker has no helper.
	for i := range s.helpers {
		t.helping.Add(1)
		s.helpers[i].start <- struct{}{}
	}
	s.rows(t.tally)
	t.helping.Wait()
	if p.Detections = p.Detections[:0]; !e.Detects {
		return
	}
	for i := range s.helpers {
		t.tally.join(s.helpers[i].tally)
	}
	p.Detections = r.sights(p.Detections, &t.view, t.tally)
}

// rows renders rows until there are none left.
func (s *Renderer) rows(t tally) {
	t.clear()
	if !s.shot.view.Detects {
		t = nil
	}
	for {
		j := int(s.shot.row.Add(1)) - 1
		if j >= s.shot.view.Height {
			return
		}
		s.renderer.row(&s.shot.view, j, s.shot.picture, t)
		// A row takes a fraction of a millisecond. So long at most a cycle waits for a processor that renders.
		runtime.Gosched()
	}
}
