package main

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
)

// cameraDevice is the one kind of camera there is.
const cameraDevice = "v4l2"

// cameraPlan is a device that takes pictures, resolved: one camera of a robot.
type cameraPlan struct {
	agent  int
	index  int // of the layout's cameras
	name   string
	body   configs.BodyKind
	config configs.Camera
	width  int
	height int
}

// sights resolves the devices that are cameras of the robot p. The simulated camera becomes as large as the device's
// pictures are, so that all three bodies show the same.
func (r *resolver) sights(path configs.Path, agent int, c *configs.Agent, p *agentPlan) {
	if c.Hardware == nil || p.layout == nil {
		return
	}
	at := path.Key("hardware").Key("cameras")
	for _, name := range sortedKeys(c.Hardware.Cameras) {
		r.sight(at.Key(name), &cameraPlan{agent: agent, name: name, body: c.BodyOf(name), config: c.Hardware.Cameras[name]}, p)
	}
}

func (r *resolver) sight(at configs.Path, q *cameraPlan, p *agentPlan) {
	var names []string
	q.index = hal.None
	for i, c := range p.layout.Cameras {
		switch {
		case p.depth(i):
			if c.Name == q.name {
				r.fault(at, q.name, "a camera of colours: no device here measures depth", "")
				return
			}
		default:
			names = append(names, c.Name)
		}
		if c.Name == q.name {
			q.index = i
		}
	}
	rule := "a camera of the robot: " + strings.Join(names, ", ")
	if len(names) == 0 {
		rule = "no camera: the robot has none"
	}
	if q.index == hal.None {
		r.fault(at, q.name, rule, "")
		return
	}
	if q.config.Device != cameraDevice {
		r.fault(at.Key("device"), q.config.Device, cameraDevice, "")
		return
	}
	lens := &p.layout.Cameras[q.index]
	if q.config.Width != nil {
		lens.Width = *q.config.Width
	}
	if q.config.Height != nil {
		lens.Height = *q.config.Height
	}
	q.width, q.height = lens.Width, lens.Height
	p.resize(q.index, q.width, q.height)
	if q.config.Format == "yuyv" && q.width%2 != 0 {
		r.fault(at.Key("width"), fmt.Sprint(q.width), "an even width, of yuyv", "")
		return
	}
	if q.body == configs.Real {
		for _, other := range r.devices.cameras {
			if other.body == configs.Real && r.config.Resolve(other.config.Port) == r.config.Resolve(q.config.Port) {
				r.fault(at.Key("port"), q.config.Port, "a device of its own", fmt.Sprintf("camera %s has it too", other.name))
				return
			}
		}
	}
	r.devices.cameras = append(r.devices.cameras, q)
}

// depth tells whether camera i of the layout measures distances.
func (p *agentPlan) depth(i int) bool {
	return p.vehicle != nil && p.vehicle.Cameras(0)[i].Depth
}

// resize sets how large the pictures of the simulated camera i are.
func (p *agentPlan) resize(i, width, height int) {
	if p.vehicle != nil {
		p.vehicle.Resize(i, width, height)
	} else {
		c := &p.robot.Cameras[i]
		c.Width, c.Height = width, height
	}
}

// camera is the driver's configuration; node opens what stands behind it.
func (q *cameraPlan) camera(agent string, node camera.Opener) camera.Config {
	return camera.Config{Name: agent + "/" + q.name, Port: q.port(), Node: node, Encoding: q.config.Format, Width: q.width,
		Height: q.height, Rate: q.config.Rate}
}

// port is the device's path; an emulated one has none.
func (q *cameraPlan) port() string {
	if q.body == configs.Emulated {
		return ""
	}
	return q.config.Port
}
