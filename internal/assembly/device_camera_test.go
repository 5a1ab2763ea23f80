package assembly_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	okonserve "github.com/halyard-robotics/halyard/internal/serve/okon"
	"github.com/halyard-robotics/halyard/protocols/okon"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// emulatedEye is Okon in lock-step with an emulated camera that has small pictures.
func emulatedEye(t *testing.T, format string) (*rigtest.Stepped, *video.Camera) {
	t.Helper()
	s := rigtest.Step(t, rigtest.PlanOf(t, "okon",
		configs.Options{Body: "emulated", Set: []string{"clock.mode=lockstep",
			"agents[0].hardware.cameras.front={device: v4l2, width: 64, height: 36, format: " + format +
				", rate: 25}"}}))
	for _, w := range s.Sys.Worlds {
		if v, ok := w.(*video.Camera); ok {
			return s, v
		}
	}
	t.Fatal("no emulated camera")
	return nil, nil
}

// On the emulated body the camera is the real driver on an emulated device, and shows what the simulated one sees.
func TestCameraEmulated(t *testing.T) {
	for _, format := range []string{"mjpeg", "yuyv", "rgb24"} {
		t.Run(format, func(t *testing.T) {
			s, device := emulatedEye(t, format)
			s.Run(time.Second)
			if device.Opened() != 1 || device.Frames() != 0 {
				t.Errorf("no watcher: opened %d times, %d frames", device.Opened(), device.Frames())
			}
			p, err := s.Look(0, 0, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			n := len(s.Agent.Layout().Cameras)
			truth, err := s.Look(n, 0, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if p.Width != 64 || p.Height != 36 || len(p.RGB) != len(truth.RGB) || len(truth.Detections) == 0 &&
				len(p.Detections) != 0 {
				t.Fatalf("got %dx%d and %d bytes, the scene's %d", p.Width, p.Height, len(p.RGB), len(truth.RGB))
			}
			off, shades := 0.0, map[byte]bool{}
			for i := range p.RGB {
				off += math.Abs(float64(p.RGB[i])-float64(truth.RGB[i])) / float64(len(p.RGB))
				shades[p.RGB[i]] = true
			}
			if off > 6 || len(shades) < 10 {
				t.Errorf("got a picture of %d shades that is off by %.1f on average, want that of the scene",
					len(shades), off)
			}
			if age := truth.Time - p.Time; age < -2*time.Second || age > 5*time.Second {
				t.Errorf("got a picture of %v beside one of %v", p.Time, truth.Time)
			}
			p.Release()
			truth.Release()
		})
	}
}

// A camera that is pulled out is an event and a reason; plugged in again it has pictures.
func TestCameraUnplugged(t *testing.T) {
	s, device := emulatedEye(t, "mjpeg")
	p, err := s.Look(0, 0, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	device.Fault(wire.Fault{Kind: wire.Unplugged})
	var gone error
	for range 20 {
		if _, gone = s.Look(0, p.Sequence, 20*time.Second); gone != nil {
			break
		}
	}
	s.Run(100 * time.Millisecond)
	if hal.KindOf(gone) != hal.Absent || !s.Saw("/okon/front/Fault") {
		t.Errorf("unplugged: got %v and no event", gone)
	}
	device.ClearFaults()
	for late := time.Now().Add(time.Minute); ; {
		q, err := s.Look(0, p.Sequence, 20*time.Second)
		if err == nil && q.Sequence > p.Sequence {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("plugged in again: got %v", err)
		}
	}
	s.Run(100 * time.Millisecond)
	if n := testing.AllocsPerRun(100, func() { assembly.Watchful{System: s.Sys}.Cycle(nil) }); n != 0 {
		t.Errorf("looking after cameras: got %g allocations a cycle, want 0", n)
	}
	for _, e := range s.Sys.Eyes.Watched {
		if stats, lost := e.Camera.State(); lost != nil || stats.Opened < 2 {
			t.Errorf("got %+v, %v", stats, lost)
		}
	}
}

// A real robot has no pictures of a camera without a device. A camera with a device has pictures without detections.
func TestSightOfDevices(t *testing.T) {
	s, _ := emulatedEye(t, "mjpeg")
	emulated, err := s.Sys.Sight(s.Agent)
	if err != nil {
		t.Fatal(err)
	}
	l := s.Agent.Layout()
	device := emulated.Devices[0]
	scene := emulated.Scene
	none := []*camera.Camera{nil, nil}
	for _, c := range []struct {
		name string
		s    assembly.Sight
		want okon.Views
	}{
		{"sim", assembly.Sight{Scene: scene, Devices: none, Real: []bool{false, false}},
			okon.Views{Colour: 0, Depth: 1, Detector: 0}},
		{"emulated", *emulated, okon.Views{Colour: 0, Depth: 1, Detector: 2}},
		{"real", assembly.Sight{Scene: scene, Devices: []*camera.Camera{device, nil}, Real: []bool{true, true}},
			okon.Views{Colour: 0, Depth: hal.None, Detector: hal.None}},
		{"real, no camera", assembly.Sight{Scene: scene, Devices: none, Real: []bool{true, true}},
			okon.Views{Colour: hal.None, Depth: hal.None, Detector: hal.None}},
		{"no scene", assembly.Sight{Devices: none, Real: []bool{false, false}},
			okon.Views{Colour: hal.None, Depth: hal.None, Detector: hal.None}},
	} {
		if got := okonserve.ViewsOf(&c.s, l); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		for i := range 5 {
			w, err := c.s.Watch(i)
			if (err == nil) != (slices.Contains([]int{c.want.Colour, c.want.Depth, c.want.Detector}, i) ||
				i >= 2 && i < 4 && c.s.Scene != nil && !c.s.Real[i-2]) {
				t.Errorf("%s: camera %d: got %v", c.name, i, err)
			}
			if err == nil {
				w.Close()
			}
		}
	}
}

// Cameras that fit to nothing: each fault with its path, and what would fit.
func TestCameraFaults(t *testing.T) {
	rig := rigtest.RigOf(t, strings.Replace(rigtest.RovRig, "      sensors:\n", `      cameras:
        depth: {device: v4l2}
        frnt: {device: v4l2}
        front: {device: webcam}
      sensors:
`, 1), "")
	c, err := configs.Load(rig, configs.Options{Set: []string{"agents[0].model=okon"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Resolve(c, builtin.Catalog())
	if err == nil {
		t.Fatal("resolved")
	}
	for _, want := range []string{
		"hardware.cameras.depth: got depth, want a camera of colours: no device here measures depth",
		"hardware.cameras.frnt: got frnt, want a camera of the robot: front",
		"hardware.cameras.front.device: got webcam, want v4l2",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got\n%v\nwant %s", err, want)
		}
	}
	for set, want := range map[string]string{
		"{device: v4l2, format: yuyv, width: 63}": "cameras.front.width: got 63, want an even width, of yuyv",
	} {
		c, err := configs.Load("okon", configs.Options{Set: []string{"agents[0].hardware.cameras.front=" + set}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Resolve(c, builtin.Catalog()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", set, err, want)
		}
	}
	p := rigtest.PlanOf(t, "okon", configs.Options{Set: []string{"agents[0].hardware.cameras.front.width=320",
		"agents[0].hardware.cameras.front.height=180"}})
	if got := p.Agents[0].Vehicle.Cameras(0)[0]; got.Width != 320 || got.Height != 180 ||
		p.Agents[0].Layout.Cameras[0].Width != 320 {
		t.Errorf("got %dx%d, want the simulated camera as large as the device's pictures", got.Width, got.Height)
	}
}

// What the doctor says against each fault of a camera.
func TestCameraFix(t *testing.T) {
	q := &plan.CameraPlan{Name: "front"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&hal.Error{Kind: hal.Absent, Try: "ls"},
			"plug it in, or put its name into hardware.cameras.front.port: ls /dev/v4l/by-id"},
		{&hal.Error{Kind: hal.Busy, Try: "sudo usermod -aG video $USER, then log in again"},
			"sudo usermod -aG video $USER, then log in again"},
		{&hal.Error{Kind: hal.Busy, Try: "fuser -v /dev/video0"}, "fuser -v /dev/video0"},
		{&hal.Error{Kind: hal.Invalid, Try: "halyard doctor"},
			"set the keys of hardware.cameras.front to what it offers"},
		{errors.New("odd"), "plug it in, or put its name into hardware.cameras.front.port: ls /dev/v4l/by-id"},
	} {
		if got := q.Fix(c.err); got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}

// A camera may be simulated on a robot whose rest is not.
func TestCameraPart(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, "okon",
		configs.Options{Set: []string{"clock.mode=lockstep", "agents[0].body=emulated",
			"agents[0].parts={front: sim}"}}))
	sight, err := s.Sys.Sight(s.Agent)
	if err != nil || sight.Devices[0] != nil || !sight.Sees(0) || s.Agent.BodyKind() != hal.Emulated {
		t.Errorf("got %+v, %v", sight, err)
	}
}
