package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// CameraDevice is the only kind of camera.
const CameraDevice = "v4l2"

// CameraPlan is a device that takes pictures, resolved: one camera of a robot.
type CameraPlan struct {
	Agent         int
	Index         int // of the layout's cameras
	Name          string
	Body          configs.BodyKind
	Config        configs.Camera
	Width, Height int
}

// sights resolves the devices that are cameras of the robot p. The simulated camera becomes as large as the device's
// pictures are, so that all three bodies show the same.
func (r *Resolver) sights(path configs.Path, agent int, c *configs.Agent, p *AgentPlan) {
	if p.Layout == nil {
		return
	}
	at, cameras := path.Key("hardware").Key("cameras"), c.Devices().Cameras
	for _, name := range report.SortedKeys(cameras) {
		r.Sight(at.Key(name), &CameraPlan{Agent: agent, Name: name, Body: c.BodyOf(name), Config: cameras[name]}, p)
	}
}

func (r *Resolver) Sight(at configs.Path, q *CameraPlan, p *AgentPlan) {
	var names []string
	q.Index = hal.None
	for i, c := range p.Layout.Cameras {
		if c.Name == q.Name {
			q.Index = i
		}
		if !p.depth(i) {
			names = append(names, c.Name)
		} else if c.Name == q.Name {
			r.fault(at, q.Name, "a camera of colours: no device here measures depth", "")
			return
		}
	}
	rule := "a camera of the robot: " + strings.Join(names, ", ")
	if len(names) == 0 {
		rule = "no camera: the robot has none"
	}
	if q.Index == hal.None {
		r.fault(at, q.Name, rule, "")
		return
	}
	if q.Config.Device != CameraDevice {
		r.fault(at.Key("device"), q.Config.Device, CameraDevice, "")
		return
	}
	lens := &p.Layout.Cameras[q.Index]
	lens.Width, lens.Height = configs.Or(q.Config.Width, lens.Width), configs.Or(q.Config.Height, lens.Height)
	q.Width, q.Height = lens.Width, lens.Height
	p.resize(q.Index, q.Width, q.Height)
	if q.Config.Format == "yuyv" && q.Width%2 != 0 {
		r.fault(at.Key("width"), fmt.Sprint(q.Width), "an even width, of yuyv", "")
		return
	}
	if q.Body == configs.Real {
		for _, other := range r.devices.Cameras {
			if other.Body == configs.Real && r.Config.Resolve(other.Config.Port) == r.Config.Resolve(q.Config.Port) {
				r.fault(at.Key("port"), q.Config.Port, "a device of its own",
					fmt.Sprintf("camera %s has it too", other.Name))
				return
			}
		}
	}
	r.devices.Cameras = append(r.devices.Cameras, q)
}

// depth reports whether camera i of the layout measures distances.
func (p *AgentPlan) depth(i int) bool {
	return p.Vehicle != nil && p.Vehicle.Cameras(0)[i].Depth
}

// resize sets how large the pictures of the simulated camera i are.
func (p *AgentPlan) resize(i, width, height int) {
	if p.Vehicle != nil {
		p.Vehicle.Resize(i, width, height)
	} else {
		c := &p.Robot.Cameras[i]
		c.Width, c.Height = width, height
	}
}

// Camera returns the driver's configuration; node opens the device.
func (q *CameraPlan) Camera(agent string, node camera.Opener) camera.Config {
	c := camera.Config{Name: agent + "/" + q.Name, Port: q.Config.Port, Node: node, Encoding: q.Config.Format,
		Width: q.Width, Height: q.Height, Rate: q.Config.Rate}
	if q.Body == configs.Emulated {
		c.Port = "" // in memory
	}
	return c
}

// Fix returns the fix for err.
func (q *CameraPlan) Fix(err error) string {
	key := "hardware.cameras." + q.Name
	var known *hal.Error
	switch errors.As(err, &known); {
	case known != nil && known.Kind == hal.Invalid:
		return "set the keys of " + key + " to what it offers"
	case known != nil && known.Kind != hal.Absent && known.Try != "":
		return known.Try
	}
	return "plug it in, or put its name into " + key + ".port: ls /dev/v4l/by-id"
}
