package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
)

// sight is what one agent sees through: each camera of its layout is a device, or the simulated robot's. It is a
// hal.CameraSource. A real camera without a device sees nothing: the scene is no witness for it.
type sight struct {
	agent   string
	scene   hal.CameraSource // the simulated robot; nil where there is none
	devices []*camera.Camera // one a camera of the layout; nil: no device
	real    []bool           // one a camera
}

// Watch begins to look through camera i; see hal.CameraSource. Above the layout's cameras are the same ones of the simulated
// robot, for who must know what is in a picture: see detector.
func (s *sight) Watch(i int) (hal.ImageStream, error) {
	switch n := len(s.devices); {
	case i >= n && i < 2*n && s.scene != nil && !s.real[i-n]:
		return s.scene.Watch(i - n)
	case !s.sees(i):
		return nil, &hal.Error{Kind: hal.Absent, Op: fmt.Sprintf("camera %d of %s", i, s.agent), Err: errors.New("it has no device: hardware.cameras names them")}
	case s.devices[i] != nil:
		return s.devices[i].Watch(0)
	}
	return s.scene.Watch(i)
}

// sees tells whether camera i has any pictures.
func (s *sight) sees(i int) bool {
	return i >= 0 && i < len(s.devices) && (s.devices[i] != nil || s.scene != nil && !s.real[i])
}

// detector is the camera whose pictures tell what is in those of camera i, or hal.None. Nobody detects anything in the
// pictures of a device; of an emulated one the scene knows.
func (s *sight) detector(i int) int {
	switch {
	case !s.sees(i) || s.real[i]:
		return hal.None
	case s.devices[i] != nil && s.scene != nil:
		return len(s.devices) + i
	}
	return i
}

// newSight is that of a robot of plan p without any device. simulated is its body in the scene, if it has one.
func newSight(p *agentPlan, simulated hal.Body) *sight {
	n := len(p.layout.Cameras)
	s := &sight{agent: p.config.Name, devices: make([]*camera.Camera, n), real: make([]bool, n)}
	s.scene, _ = simulated.(hal.CameraSource)
	for i := range s.real {
		s.real[i] = p.config.BodyOf(p.layout.Cameras[i].Name) == configs.Real
	}
	return s
}

// sight is what an agent sees through. The error says that it has no cameras here.
func (sys *system) sight(agent *hal.Agent) (*sight, error) {
	if s := sys.eyes.of(agent.Name()); s != nil {
		return s, nil
	}
	// A robot that was spawned: its body is the scene's.
	var body hal.Body
	sys.rig.BetweenCycles(func() {
		if b := sys.scene.Body(agent.Name()); b != nil {
			body = b
		}
	})
	w, ok := body.(hal.CameraSource)
	if !ok || agent.BodyKind() == hal.Real {
		return nil, &hal.Error{Kind: hal.Absent, Op: "cameras of " + agent.Name(), Err: errors.New("it has none here")}
	}
	n := len(agent.Layout().Cameras)
	return &sight{agent: agent.Name(), scene: w, devices: make([]*camera.Camera, n), real: make([]bool, n)}, nil
}

// eyes are the sights of a rig's agents, with the devices in them. What goes wrong with one is an event of the rig,
// /AGENT/CAMERA/Fault, and a line in the log; /AGENT/CAMERA/Bad and /Lost count frames.
type eyes struct {
	mu      sync.Mutex // guards sights
	sights  []*sight
	session *hal.Session
	watched []eye
	clock   rigClock
}

// eye is one device as the rig tells of it.
type eye struct {
	agent, name string
	camera      *camera.Camera
	lost        hal.EventID
	faulty      bool
}

// join and leave let the sights of spawned robots be found, and be found no more.
func (e *eyes) join(sights []*sight) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sights = append(e.sights, sights...)
}

func (e *eyes) leave(sights []*sight) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sights = slices.DeleteFunc(e.sights, func(s *sight) bool { return slices.Contains(sights, s) })
}

func (e *eyes) of(agent string) *sight {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sights {
		if s.agent == agent {
			return s
		}
	}
	return nil
}

// openCameras opens the plan's cameras, which all agents' bodies have to be there for. All faults come together.
func (b *builder) openCameras() error {
	e := &b.eyes
	for i := range b.plan.agents {
		e.sights = append(e.sights, newSight(&b.plan.agents[i], b.simulated(i)))
	}
	if len(b.plan.cameras) == 0 {
		return nil
	}
	e.clock.mode = b.rig.Mode()
	b.addWorld(&e.clock)
	var faults []error
	for _, q := range b.plan.cameras {
		if q.body != configs.Sim {
			faults = append(faults, b.openCamera(q))
		}
	}
	if len(e.watched) > 0 {
		e.session = b.rig.NewSession("cameras", watchful{b.system})
	}
	return errors.Join(faults...)
}

func (b *builder) openCamera(q *cameraPlan) error {
	agent := b.plan.agents[q.agent].config.Name
	node, device, err := b.cameraNode(q)
	if err != nil {
		return err
	}
	c := q.camera(agent, node)
	if c.Now = b.eyes.clock.now; device != nil {
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
	b.eyes.of(agent).devices[q.index] = cam
	path := "/" + agent + "/" + q.name
	b.eyes.watched = append(b.eyes.watched, eye{agent: agent, name: q.name, camera: cam, lost: b.rig.Events().Declare(path + "/Fault")})
	count := func(what string, of func(camera.Stats) uint64) {
		b.rig.Values().Declare(path+"/"+what, hal.IntValue, func() hal.Value {
			stats, _ := cam.State()
			return hal.Value{Kind: hal.IntValue, Int: int64(of(stats))}
		}, nil)
	}
	count("Bad", func(s camera.Stats) uint64 { return s.Bad })
	count("Lost", func(s camera.Stats) uint64 { return s.Lost })
	return nil
}

// cameraNode is what a camera is opened by: the kernel's device, or one in memory that looks at the scene.
func (b *builder) cameraNode(q *cameraPlan) (camera.Opener, *video.Camera, error) {
	if q.body != configs.Emulated {
		return camera.Reopener(q.config.Port), nil, nil
	}
	source, ok := b.simulated(q.agent).(hal.CameraSource)
	if !ok {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "camera " + q.name, Err: errors.New("nothing simulated looks through it")}
	}
	c := video.Config{Name: q.name, Source: source, Camera: q.index, Sizes: [][2]int{{q.width, q.height}},
		Pixels: []camera.Pixel{camera.MJPG, camera.YUYV, camera.RGB3, camera.GREY}, Rate: q.config.Rate, Seed: b.plan.config.World.Seed, Bare: true}
	if b.plan.lens != nil {
		return b.plan.lens(c)
	}
	device, err := video.New(c)
	if err != nil {
		return nil, nil, err
	}
	return device.Open, device, nil
}

// watchful looks after the devices, once a cycle.
type watchful struct{ *system }

// Cycle implements hal.Observer.
func (w watchful) Cycle(*hal.Cycle) {
	for i := range w.eyes.watched {
		e := &w.eyes.watched[i]
		stats, err := e.camera.State()
		if (err != nil) == e.faulty {
			continue
		}
		if e.faulty = err != nil; e.faulty {
			w.rig.Events().Raise(e.lost)
			w.log.Warn("at fault", "agent", e.agent, "camera", e.name, "fault", err)
		} else {
			w.log.Info("well again", "agent", e.agent, "camera", e.name, "bad", stats.Bad, "lost", stats.Lost)
		}
	}
}

// close gives every device back; who watches is told so.
func (e *eyes) close() error {
	if e.session != nil {
		e.session.Close()
	}
	var faults []error
	for _, w := range e.watched {
		faults = append(faults, w.camera.Close())
	}
	return errors.Join(faults...)
}

// rigClock tells the rig's time to goroutines beside the cycle: that of the last edge and, in real time, what has passed
// since. It is a hal.World, for worlds are told of every cycle.
type rigClock struct {
	mode hal.ClockMode
	edge atomic.Int64 // ns
	wall atomic.Int64 // of the edge, ns of began
}

// Advance implements hal.World.
func (c *rigClock) Advance(dt time.Duration) error {
	c.edge.Add(int64(dt))
	c.wall.Store(time.Now().UnixNano())
	return nil
}

func (c *rigClock) now() time.Duration {
	now := time.Duration(c.edge.Load())
	if c.mode == hal.Realtime {
		now += max(0, min(time.Second, time.Duration(time.Now().UnixNano()-c.wall.Load())))
	}
	return now
}
