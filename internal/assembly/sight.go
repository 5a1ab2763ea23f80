package assembly

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
)

// Sight is the cameras of one agent: each camera of its layout is a device, or the simulated robot's. It is a
// hal.CameraSource. A real camera without a device has no pictures: the scene must not replace it.
type Sight struct {
	rig     *hal.Rig // nil: nothing to wake
	agent   string
	Scene   hal.CameraSource // the simulated robot; nil if absent
	Devices []*camera.Camera // one a camera of the layout; nil: no device
	Real    []bool           // one a camera
}

// Watch starts the stream of camera i; see hal.CameraSource. Indices n..2n-1 select the simulated view of the same
// cameras, for the object detector.
func (s *Sight) Watch(i int) (hal.ImageStream, error) {
	if s.rig != nil {
		defer s.rig.BetweenCycles(func() {}) // wakes an idle rig: the next cycle, which shows the bodies, comes in time
	}
	switch n := len(s.Devices); {
	case i >= n && i < 2*n && s.Scene != nil && !s.Real[i-n]:
		return s.Scene.Watch(i - n)
	case !s.Sees(i):
		return nil, &hal.Error{Kind: hal.Absent, Op: fmt.Sprintf("camera %d of %s", i, s.agent),
			Err: errors.New("it has no device: hardware.cameras names them")}
	case s.Devices[i] != nil:
		return s.Devices[i].Watch(0)
	}
	return s.Scene.Watch(i)
}

// Sees reports whether camera i provides pictures.
func (s *Sight) Sees(i int) bool {
	return i >= 0 && i < len(s.Devices) && (s.Devices[i] != nil || s.Scene != nil && !s.Real[i])
}

// Detector returns the camera whose detections apply to the pictures of camera i, or hal.None. For an emulated device
// the scene provides them. There is no detector for the pictures of a real device.
func (s *Sight) Detector(i int) int {
	switch {
	case !s.Sees(i) || s.Real[i]:
		return hal.None
	case s.Devices[i] != nil && s.Scene != nil:
		return len(s.Devices) + i
	}
	return i
}

// newSight is that of a robot of plan p without any device. simulated is its body in the scene, if it has one.
func newSight(r *hal.Rig, p *plan.AgentPlan, simulated hal.Body) *Sight {
	n := len(p.Layout.Cameras)
	s := &Sight{rig: r, agent: p.Config.Name, Devices: make([]*camera.Camera, n), Real: make([]bool, n)}
	s.Scene, _ = simulated.(hal.CameraSource)
	for i := range s.Real {
		s.Real[i] = p.Config.BodyOf(p.Layout.Cameras[i].Name) == configs.Real
	}
	return s
}

// Sight returns the cameras of an agent. The error reports that it has none.
func (s *System) Sight(agent *hal.Agent) (*Sight, error) {
	if sight := s.Eyes.Of(agent.Name()); sight != nil {
		return sight, nil
	}
	// A robot that was spawned: its body is the scene's.
	var body hal.Body
	s.Rig.BetweenCycles(func() {
		if b := s.Scene.Body(agent.Name()); b != nil {
			body = b
		}
	})
	w, ok := body.(hal.CameraSource)
	if !ok || agent.BodyKind() == hal.Real {
		return nil, &hal.Error{Kind: hal.Absent, Op: "cameras of " + agent.Name(),
			Err: errors.New("no camera with this body")}
	}
	n := len(agent.Layout().Cameras)
	return &Sight{rig: s.Rig, agent: agent.Name(), Scene: w, Devices: make([]*camera.Camera, n),
		Real: make([]bool, n)}, nil
}

// eyes are the sights of a rig's agents, with their devices. A fault of a camera is an event of the rig,
// /AGENT/CAMERA/Fault, and a line in the log; /AGENT/CAMERA/Bad and /Lost count frames.
type eyes struct {
	mu      sync.Mutex // guards sights
	sights  []*Sight
	Watched []eye
	Clock   rigClock
}

// eye is one camera as the rig reports it.
type eye struct {
	agent, name string
	Camera      *camera.Camera
	lost        hal.EventID
	faulty      bool
}

// join and leave let the sights of spawned robots be found, and be found no more.
func (e *eyes) join(sights []*Sight) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sights = append(e.sights, sights...)
}

func (e *eyes) leave(sights []*Sight) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sights = slices.DeleteFunc(e.sights, func(s *Sight) bool { return slices.Contains(sights, s) })
}

func (e *eyes) Of(agent string) *Sight {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sights {
		if s.agent == agent {
			return s
		}
	}
	return nil
}

// openCameras opens the plan's cameras; all agents must have their bodies before. All faults are returned together.
func (b *Builder) openCameras() error {
	e := &b.Eyes
	for i := range b.Plan.Agents {
		e.sights = append(e.sights, newSight(b.Rig, &b.Plan.Agents[i], b.Simulated(i)))
	}
	if !slices.ContainsFunc(b.Plan.Cameras, func(q *plan.CameraPlan) bool { return q.Body != configs.Sim }) {
		return nil
	}
	e.Clock.mode = b.Rig.Mode()
	b.addWorld(&e.Clock)
	var faults []error
	for _, q := range b.Plan.Cameras {
		if q.Body != configs.Sim {
			faults = append(faults, b.openCamera(q))
		}
	}
	if len(e.Watched) > 0 {
		b.watch("cameras", Watchful{b.System})
	}
	return errors.Join(faults...)
}

func (b *Builder) openCamera(q *plan.CameraPlan) error {
	agent := b.Plan.Agents[q.Agent].Config.Name
	if b.Plan.Replay && q.Body == configs.Real {
		return &hal.Error{Kind: hal.Unsafe, Op: "replay " + agent + "/" + q.Name, Err: errReplayReal}
	}
	node, device, err := b.CameraNode(q)
	if err != nil {
		return err
	}
	c := q.Camera(agent, node)
	if c.Now = b.Eyes.Clock.Now; device != nil {
		b.addWorld(device)
		c.After = device.After
	}
	cam, err := camera.New(c)
	if err != nil {
		return err
	}
	if err := cam.Open(); err != nil {
		return err
	}
	b.Eyes.Of(agent).Devices[q.Index] = cam
	path := "/" + agent + "/" + q.Name
	b.Eyes.Watched = append(b.Eyes.Watched,
		eye{agent: agent, name: q.Name, Camera: cam, lost: b.Rig.Events().Declare(path + "/Fault")})
	count := func(what string, of func(camera.Stats) uint64) {
		b.Rig.Values().Declare(path+"/"+what, hal.IntValue, func() hal.Value {
			stats, _ := cam.State()
			return hal.Value{Kind: hal.IntValue, Int: int64(of(stats))}
		}, nil)
	}
	count("Bad", func(s camera.Stats) uint64 { return s.Bad })
	count("Lost", func(s camera.Stats) uint64 { return s.Lost })
	return nil
}

// CameraNode returns the opener of a camera: the kernel's device, or one in memory that renders the scene.
func (b *Builder) CameraNode(q *plan.CameraPlan) (camera.Opener, *video.Camera, error) {
	if q.Body != configs.Emulated {
		return camera.Reopener(q.Config.Port), nil, nil
	}
	source, ok := b.Simulated(q.Agent).(hal.CameraSource)
	if !ok {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "camera " + q.Name,
			Err: errors.New("nothing simulated looks through it")}
	}
	c := video.Config{Name: q.Name, Source: source, Camera: q.Index, Sizes: [][2]int{{q.Width, q.Height}},
		Pixels: []v4l2.Pixel{v4l2.MJPG, v4l2.YUYV, v4l2.RGB3, v4l2.GREY}, Rate: q.Config.Rate,
		Seed: b.Plan.Config.World.Seed, Bare: true}
	if b.Plan.Lens != nil {
		return b.Plan.Lens(c)
	}
	device, err := video.New(c)
	if err != nil {
		return nil, nil, err
	}
	return device.Open, device, nil
}

// Watchful checks the devices once a cycle.
type Watchful struct{ *System }

func (w Watchful) Cycle(*hal.Cycle) {
	for i := range w.Eyes.Watched {
		e := &w.Eyes.Watched[i]
		stats, err := e.Camera.State()
		if (err != nil) == e.faulty {
			continue
		}
		if e.faulty = err != nil; e.faulty {
			w.Rig.Events().Raise(e.lost)
			w.Log.Warn("device fault", "agent", e.agent, "camera", e.name, "fault", err)
		} else {
			w.Log.Info("device recovered", "agent", e.agent, "camera", e.name, "bad", stats.Bad, "lost", stats.Lost)
		}
	}
}

// Close releases every device and notifies its watchers.
func (e *eyes) Close() error {
	var faults []error
	for _, w := range e.Watched {
		faults = append(faults, w.Camera.Close())
	}
	return errors.Join(faults...)
}

// rigClock provides the rig's time to other goroutines: that of the last cycle and, in real time, the time since then.
// It is a hal.World, since worlds are called in every cycle.
type rigClock struct {
	mode hal.ClockMode
	edge atomic.Int64 // ns
	wall atomic.Int64 // of the edge, ns of began
}

func (c *rigClock) Advance(dt time.Duration) error {
	c.edge.Add(int64(dt))
	c.wall.Store(time.Now().UnixNano())
	return nil
}

func (c *rigClock) Now() time.Duration {
	now := time.Duration(c.edge.Load())
	if c.mode == hal.Realtime {
		now += max(0, min(time.Second, time.Duration(time.Now().UnixNano()-c.wall.Load())))
	}
	return now
}

// FindCamera finds a camera by the names of the protocol, "" being the first.
func (s *System) FindCamera(robot, name string) (w hal.CameraSource, index int, err error) {
	for _, agent := range s.Rig.Agents() {
		if robot != "" && !strings.EqualFold(agent.Name(), robot) {
			continue
		}
		sight, err := s.Sight(agent)
		if err != nil {
			continue
		}
		for i, c := range agent.Layout().Cameras {
			if sight.Sees(i) && (name == "" || strings.EqualFold(c.Name, name)) {
				return sight, i, nil
			}
		}
	}
	return nil, 0, &hal.Error{Kind: hal.Absent, Op: "camera", Err: fmt.Errorf("no camera %q of %q", name, robot)}
}
