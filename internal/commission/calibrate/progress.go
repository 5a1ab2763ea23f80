package calibrate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// progress is the measurements of a session so far. It is saved in a file until the session ends, so that an
// interrupted session can be continued.
type progress struct {
	Robot   string               `json:"robot"`
	Body    configs.BodyKind     `json:"body"` // on which devices it measured: real or emulated
	Started time.Time            `json:"started"`
	Joints  map[string]*measured `json:"joints"`
}

// measured is the measurements of one joint. Ticks count turns from the start of the session.
type measured struct {
	Servo     string   `json:"servo"` // model and id: measurements are not valid for another servo
	Firmware  string   `json:"firmware,omitempty"`
	Homing    int      `json:"homing_offset,omitempty"`
	Reference *float64 `json:"reference_ticks"`
	Angle     float64  `json:"reference_rad"`
	Direction int      `json:"direction"` // 0: not known yet
	Low       *float64 `json:"low_ticks"`
	High      *float64 `json:"high_ticks"`
	Stops     bool     `json:"stops,omitempty"` // the servo found them
	Gear      float64  `json:"gear"`            // 0: not asked yet
	Saved     bool     `json:"saved"`
	Rest      *float64 `json:"rest_ticks"`
	Rested    bool     `json:"rested"` // the question was answered
	Moved     bool     `json:"moved"`  // torque and the check by a motion
}

// of returns the measurements of a joint.
func (p *progress) of(joint string) *measured {
	p.Joints[joint] = cmp.Or(p.Joints[joint], &measured{})
	return p.Joints[joint]
}

func (g *Guide) progressFile() string {
	return filepath.Join(filepath.Dir(g.path(g.joints[0])), "."+g.robot.Name+".calibrate.json")
}

// keep writes the progress, whole or not at all.
func (g *Guide) keep() error {
	data, err := json.MarshalIndent(&g.notes, "", " ")
	if err != nil {
		return err
	}
	part := g.progressFile() + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return err
	}
	return os.Rename(part, g.progressFile())
}

// resume asks whether to continue a session that ended early.
func (g *Guide) resume(ctx context.Context) error {
	fresh := progress{Robot: g.robot.Name, Body: g.body(), Started: g.Now(), Joints: map[string]*measured{}}
	data, err := os.ReadFile(g.progressFile())
	if errors.Is(err, fs.ErrNotExist) {
		g.notes = fresh
		return g.keep()
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &g.notes); err != nil || g.notes.Robot != g.robot.Name || g.notes.Joints == nil {
		g.printf("%s is half written, or of another robot: the session begins again", g.progressFile())
		g.notes = fresh
		return g.keep()
	}
	if g.notes.Body != g.body() {
		return &hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config,
			Err: fmt.Errorf("got an unfinished session on %s devices (%s), want one on %s devices: they never mix",
				cmp.Or(string(g.notes.Body), "unknown"), g.progressFile(), g.body()),
			Try: "--body as before, or remove that file to begin again"}
	}
	began := g.notes.Started.Local().Format("2 January 15:04")
	text, err := g.choose(ctx, "A session of "+began+" was not finished. Enter goes on with it, n begins again", "n",
		"")
	if err != nil {
		return err
	}
	if text == "n" {
		g.notes = fresh
		return g.keep()
	}
	for _, j := range g.joints {
		if m := g.notes.of(j.Name); m.Servo != "" && m.Servo != servoName(j) {
			g.notes.Joints[j.Name] = &measured{}
		}
		g.notes.of(j.Name).Servo = servoName(j)
	}
	return g.keep()
}

func servoName(j *Joint) string { return fmt.Sprintf("%s id %d", j.Model.Units().Name, j.ID) }
