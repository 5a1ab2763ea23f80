package okon

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
)

// Arm lets the motors turn; Disarm stops them.
func (c *Client) Arm() error    { return c.SendConfirmed(ArmMotors, nil) }
func (c *Client) Disarm() error { return c.SendConfirmed(DisarmMotors, nil) }

// Mode returns the control mode: "stable", "acro" or "manual". SetMode sets it.
func (c *Client) Mode() (string, error) {
	b, err := c.Ask(SetControlMode, DoNotLog, nil)
	return string(b), err
}

func (c *Client) SetMode(mode string) error { return c.SendConfirmed(SetControlMode, []byte(mode)) }

// Motors, Stable, Acro and PIDs return the settings, and Motors the present duty of the thrusters. Each Set sets it.
func (c *Client) Motors() (Motors, error) { return get[Motors](c, SetMotors) }
func (c *Client) Stable() (Stable, error) { return get[Stable](c, SetStable) }
func (c *Client) Acro() (Acro, error)     { return get[Acro](c, SetAcro) }
func (c *Client) PIDs() (PIDs, error)     { return get[PIDs](c, SetPID) }

func (c *Client) SetMotors(m Motors) error { return c.sendJSON(SetMotors, m) }
func (c *Client) SetStable(s Stable) error { return c.sendJSON(SetStable, s) }
func (c *Client) SetAcro(a Acro) error     { return c.sendJSON(SetAcro, a) }
func (c *Client) SetPIDs(p PIDs) error     { return c.sendJSON(SetPID, p) }

// Sensors returns the robot's measurements; what is not known is NaN. Both names of the angular acceleration are
// accepted.
func (c *Client) Sensors() (Sensors, error) {
	b, err := c.Ask(GetSensors, DoNotLog, nil)
	s := Sensors{unknown, unknown, unknown, unknown, unknown, Baro{unknown.X}} // null leaves it so
	if err == nil {
		if err = json.Unmarshal(b, &s); err != nil {
			err = fault(GetSensors, fmt.Errorf("answer: %w", err))
		}
	}
	if r := s.RotAccel; math.IsNaN(float64(r.X)) && math.IsNaN(float64(r.Y)) && math.IsNaN(float64(r.Z)) {
		s.RotAccel = s.AngularAccel
	}
	s.AngularAccel = s.RotAccel
	return s, err
}

// Orientation is where the robot is, NaN where that is not known. SetOrientation puts a simulated one there.
func (c *Client) Orientation() (Orientation, error) {
	return fill(c, SetOrientation, Orientation{unknown, unknown})
}
func (c *Client) SetOrientation(o Orientation) error { return c.sendJSON(SetOrientation, o) }

// Reset puts a simulated robot into a start zone, and clears the checkpoints. Every client gets a ResetSim event.
func (c *Client) Reset() error { return c.SendConfirmed(ResetSim, nil) }

// Ping returns the data that the server sent back.
func (c *Client) Ping(data []byte) ([]byte, error) { return c.Ask(Ping, 0, data) }

// Checkpoints are all, and whether they have been reached.
func (c *Client) Checkpoints() ([]Checkpoint, error) {
	return get[[]Checkpoint](c, GetCheckpoints)
}

// InAction reports whether the robot is in an action point.
func (c *Client) InAction(id string) (bool, error) {
	b, err := c.Ask(CheckAction, 0, []byte(id))
	if err != nil {
		return false, err
	}
	var in bool
	var object struct{ Active bool } // an original of early 2021
	if json.Unmarshal(b, &in) != nil && json.Unmarshal(b, &object) != nil {
		return false, fault(CheckAction, fmt.Errorf("answer: got %q, want true or false", b))
	}
	return in || object.Active, nil
}

// ActionPoints are the ids of all, with or without quotes.
func (c *Client) ActionPoints() ([]string, error) {
	b, err := c.Ask(CheckAction, 0, nil)
	if err != nil {
		return nil, err
	}
	var list []string
	if json.Unmarshal(b, &list) == nil {
		return list, nil
	}
	if len(b) < 2 || b[0] != '[' || b[len(b)-1] != ']' {
		return nil, fault(CheckAction, fmt.Errorf("answer: got %q, want a list", b))
	}
	for id, rest := []byte(nil), b[1:len(b)-1]; len(rest) > 0; {
		id, rest, _ = bytes.Cut(rest, []byte{','})
		list = append(list, string(id))
	}
	return list, nil
}

// Detections returns the objects in the robot's camera picture.
func (c *Client) Detections() ([]Detection, error) { return get[[]Detection](c, GetDetections) }

// Picture is a JPEG, of the colour or of the depth camera. t is GetVideoBytes, GetVideo, GetDepthBytes or GetDepth.
func (c *Client) Picture(t Type) ([]byte, error) {
	b, err := c.Ask(t, DoNotLog, nil)
	if err != nil || t != GetVideo && t != GetDepth {
		return b, err
	}
	if b, err = base64.StdEncoding.AppendDecode(nil, b); err != nil {
		return nil, fault(t, err)
	}
	return b, nil
}

// Quality is that of colour pictures, 0..100. SetQuality sets it for every client.
func (c *Client) Quality() (int, error) {
	s, err := get[Simulation](c, SetSim)
	return s.Quality, err
}

func (c *Client) SetQuality(q int) error { return c.sendJSON(SetSim, Simulation{q}) }
