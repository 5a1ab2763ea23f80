package dashboard

import (
	"encoding/json"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// The descriptions of the values. Unknown numbers are null.
type (
	layoutText struct {
		Op         string      `json:"op"`
		Generation uint32      `json:"generation"`
		Length     int         `json:"length"` // of the values
		Rigs       []rigText   `json:"rigs"`
		Agents     []agentText `json:"agents"`
	}
	rigText struct {
		Name     string        `json:"name"`
		Clock    string        `json:"clock"`
		Period   report.Number `json:"period_s"`
		Contacts int           `json:"contacts"` // index of the first: x y z each, NaN = none
		Most     int           `json:"most"`     // of them
		Poses    int           `json:"poses"`    // where they begin: x y z, w x y z each
		Bodies   int           `json:"bodies"`
	}
	agentText struct {
		Rig      int           `json:"rig"`
		Name     string        `json:"name"`
		Body     string        `json:"body"` // sim, emulated, real or mixed
		First    int           `json:"first"`
		Ages     int           `json:"ages"`   // one a device: joints, then sensors; s
		Joints   []jointText   `json:"joints"` // state, mode and goal of each begin at Goals
		Goals    int           `json:"goals"`
		Ghost    int           `json:"ghost"` // where the poses of the twin's links begin, -1 = none
		Aim      int           `json:"aim"`   // where those of its links at its goals begin, NaN at them, -1 = none
		Links    []int         `json:"links"` // the bodies of the scene that they are of
		Channels []channelText `json:"channels"`
		Sensors  []sensorText  `json:"sensors"`
		Cameras  []string      `json:"cameras"`
	}
	channelText struct {
		Name     string        `json:"name"`
		Unit     string        `json:"unit"`
		Min      report.Number `json:"min"`
		Max      report.Number `json:"max"`
		Estimate bool          `json:"estimate,omitempty"`
	}
	// jointText's channels are indexes of measured values, -1 = none.
	jointText struct {
		Name        string        `json:"name"`
		Kind        string        `json:"kind"`
		Body        string        `json:"body"`
		Modes       []string      `json:"modes"` // by their number; "" = not taken
		Position    int           `json:"position"`
		Velocity    int           `json:"velocity"`
		Torque      int           `json:"torque"`
		Voltage     int           `json:"voltage"`
		Temperature int           `json:"temperature"`
		Shadow      int           `json:"shadow"` // measured minus the twin's position
		Wraps       bool          `json:"wraps"`
		Min         report.Number `json:"min"`
		Max         report.Number `json:"max"`
		MaxVelocity report.Number `json:"max_velocity"`
		MaxTorque   report.Number `json:"max_torque"`
	}
	sensorText struct {
		Name  string        `json:"name"`
		Kind  string        `json:"kind"`
		First int           `json:"first"`
		Count int           `json:"count"`
		Mount []float64     `json:"mount"` // x y z, w x y z in its body
		Body  int           `json:"body"`  // of the scene; -1 = not known
		FOV   report.Number `json:"fov"`   // rad, of a scanner
	}
)

var kinds = [...]string{hal.Hinge: "hinge", hal.Wheel: "wheel", hal.Slide: "slide", hal.Thruster: "thruster"}

// describe is the layout as text.
func (s *Server) describe() []byte {
	out := layoutText{Op: "layout", Generation: s.sampler.made, Length: s.sampler.length, Agents: []agentText{}}
	for i, r := range s.sampler.rigs {
		out.Rigs = append(out.Rigs, rigText{r.Rig.Name(), r.Rig.Mode().String(),
			report.Number(r.Rig.Period().Seconds()),
			s.sampler.scenes[i], maxContacts, s.sampler.scenes[i] + 3*maxContacts, len(s.sampler.bodies[i])})
	}
	for _, a := range s.sampler.agents {
		out.Agents = append(out.Agents, s.describeAgent(a))
	}
	b, err := json.Marshal(out)
	if err != nil {
		s.options.Log.Error("dashboard: layout", "fault", err)
	}
	return b
}

func (s *Server) describeAgent(a *subject) agentText {
	l := a.agent.Layout()
	channels := len(l.Outputs) + len(l.Infos)
	t := agentText{Ghost: a.ghost, Aim: a.aim, Links: a.bodies, Rig: a.rig, Name: a.agent.Name(), Body: a.kind,
		First: a.first,
		Ages:  a.first + channels,
		Goals: a.first + channels + l.Devices(), Joints: []jointText{}, Channels: []channelText{},
		Sensors: []sensorText{}, Cameras: []string{}}
	for i := range channels {
		c := l.Measured(i)
		t.Channels = append(t.Channels, channelText{c.Name, c.Unit(), report.Number(c.Min), report.Number(c.Max),
			c.Estimate})
	}
	for i := range l.Actuators {
		j := &l.Actuators[i]
		text := jointText{Name: j.Name, Kind: kinds[j.Kind], Body: string(a.kinds[i]), Position: j.Position,
			Velocity: j.Velocity, Torque: j.Torque, Voltage: j.Voltage, Temperature: j.Temperature, Shadow: hal.None,
			Wraps: j.Wraps, Min: report.Number(j.Limits.MinPosition), Max: report.Number(j.Limits.MaxPosition),
			MaxVelocity: report.Number(j.Limits.MaxVelocity), MaxTorque: report.Number(j.Limits.MaxTorque)}
		if a.shadows != nil {
			text.Shadow = a.shadows[i]
		}
		for m := range hal.NumModes {
			name := ""
			if j.Goal[m] != hal.None {
				name = m.String()
			}
			text.Modes = append(text.Modes, name)
		}
		t.Joints = append(t.Joints, text)
	}
	parts := s.sampler.bodies[a.rig]
	for i := range l.Sensors {
		k := &l.Sensors[i]
		text := sensorText{Name: k.Name, Kind: k.Kind, First: k.First, Count: k.Count, Mount: flat(k.Mount),
			Body: hal.None}
		if len(a.robot.Tree) > 0 {
			link := a.robot.Tree[a.robot.SensorLinks[i]].Name
			for body, p := range parts {
				if p.Agent == t.Name && p.Body == link {
					text.Body = body
				}
			}
		}
		if k.Kind == "range" && k.Count > 1 {
			text.FOV = report.Number(a.robot.FOV(i))
		}
		t.Sensors = append(t.Sensors, text)
	}
	for i := range l.Cameras {
		t.Cameras = append(t.Cameras, l.Cameras[i].Name)
	}
	return t
}

// flat returns a pose as seven numbers; a zero rotation becomes the identity.
func flat(p hal.Pose) []float64 {
	if p.Rotation == [4]float64{} {
		p.Rotation[0] = 1
	}
	return append(p.Position[:], p.Rotation[:]...)
}

// The scenes: the shapes drawn at the poses.
type (
	scenesText struct {
		Generation uint32      `json:"generation"`
		Rigs       []sceneText `json:"rigs"`
		Meshes     []string    `json:"meshes"` // files that looks are of
	}
	sceneText struct {
		Bodies []bodyText  `json:"bodies"`
		Shapes []shapeText `json:"shapes"` // of the physics
		Looks  []shapeText `json:"looks"`  // drawn in place of the shapes of the same group
		Water  *float64    `json:"water"`  // m, its surface
	}
	bodyText struct {
		Agent string `json:"agent"` // "" = of the world
		Name  string `json:"name"`
		Kind  string `json:"kind"`  // sim, emulated, real; "" = of the world
		Joint string `json:"joint"` // that moves it; "" = none
	}
	shapeText struct {
		Kind   string      `json:"kind"`
		Body   int         `json:"body"` // -1 = of the world
		Radius float64     `json:"r,omitempty"`
		Half   *[3]float64 `json:"half,omitempty"`
		At     []float64   `json:"at"`
		Colour [3]float64  `json:"colour"`
		Field  *fieldText  `json:"field,omitempty"`
		Group  int         `json:"group,omitempty"` // from 1
		Mesh   int         `json:"mesh,omitempty"`  // of a look of kind mesh: index of meshes
	}
	fieldText struct {
		Columns int       `json:"columns"`
		Rows    int       `json:"rows"`
		Points  []float32 `json:"points"` // x y z each, along x first
	}
)

// maxField bounds the samples of a height field that a browser is sent, in each direction.
const maxField = 128

// scenes returns the shapes to draw.
func (s *Server) scenes() ([]byte, error) {
	s.sampler.take() // ensures a layout
	s.sampler.mu.Lock()
	defer s.sampler.mu.Unlock()
	out := scenesText{Generation: s.sampler.made, Rigs: []sceneText{}, Meshes: []string{}}
	var looks lookCollector
	for i, r := range s.sampler.rigs {
		text := sceneText{Bodies: []bodyText{}, Shapes: []shapeText{}, Looks: []shapeText{}}
		if r.System != nil {
			s.dress(i, &text)
			looks.add(r, s.sampler.bodies[i], &text)
		}
		out.Rigs = append(out.Rigs, text)
	}
	for i := range looks.files {
		out.Meshes = append(out.Meshes, looks.files[i].name)
	}
	s.meshes.put(out.Generation, looks.files)
	return json.Marshal(out)
}

func (s *Server) dress(rig int, text *sceneText) {
	for _, p := range s.sampler.bodies[rig] {
		b := bodyText{Agent: p.Agent, Name: p.Body}
		for _, a := range s.sampler.agents {
			if a.rig != rig || a.agent.Name() != p.Agent {
				continue
			}
			if b.Kind = a.kind; b.Kind == "mixed" {
				b.Kind = a.agent.BodyKind().String()
			}
			for k := range a.robot.Tree {
				if link := &a.robot.Tree[k]; link.Name == p.Body && link.Joint != hal.None &&
					link.Joint < len(a.kinds) {
					b.Joint, b.Kind = a.agent.Layout().Actuators[link.Joint].Name, string(a.kinds[link.Joint])
				}
			}
		}
		text.Bodies = append(text.Bodies, b)
	}
	scene := s.sampler.rigs[rig].System.Scene.Appearance()
	for i := range scene.Geoms {
		g := &scene.Geoms[i]
		shape := shapeText{Kind: g.Kind.String(), Body: g.Body, Radius: g.Radius, At: flat(hal.Pose(g.Local)),
			Colour: scene.Paints[i].Colour}
		if g.Half != [3]float64{} {
			shape.Half = &g.Half
		}
		if g.Kind == collide.Hull { // the page draws the box that holds it
			half := g.Hull.Half()
			shape.Kind, shape.Half = "box", &half
		}
		if g.Kind == collide.HeightField {
			shape.Kind, shape.Field = "field", newField(g.Field)
		}
		text.Shapes = append(text.Shapes, shape)
	}
	if scene.Water != nil && !math.IsInf(scene.Water.Surface, 0) {
		text.Water = &scene.Water.Surface
	}
}

// newField thins a height field out until a browser can draw it.
func newField(f *collide.Field) *fieldText {
	columns, rows := f.Size()
	step := 1
	for columns/step > maxField || rows/step > maxField {
		step++
	}
	t := &fieldText{Columns: (columns + step - 1) / step, Rows: (rows + step - 1) / step}
	for j := 0; j < rows; j += step {
		for i := 0; i < columns; i += step {
			p := f.Sample(i, j)
			t.Points = append(t.Points, float32(p[0]), float32(p[1]), float32(p[2]))
		}
	}
	return t
}
