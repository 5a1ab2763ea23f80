package gamebots_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
)

// A custom command, as the tutorial's OMNIDRIVE for a platform on three Swedish wheels: its name, and a function that
// commands the joints.
func ExampleCommand() {
	omnidrive := func(c *gamebots.Control) error {
		straight, side, turn := c.Number("STRAIGHT", 0), c.Number("SIDE", 0), c.Number("ROT", 0)
		for i, joint := range []string{"FWheel", "LeftRWheel", "RightRWheel"} {
			at := float64(i) * 2 * math.Pi / 3 // angle of the wheel on the platform
			if err := c.Drive(joint, gamebots.Angle, side*math.Cos(at)-straight*math.Sin(at)+turn); err != nil {
				return err
			}
		}
		return nil
	}
	options := gamebots.Options{Commands: map[string]gamebots.Command{"OMNIDRIVE": omnidrive}}

	town, stop := omnitown(options)
	defer stop()
	c, err := gamebots.Dial(town.address, gamebots.ClientOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	c.Send("INIT {ClassName USARBot.Omni} {Name R1} {Location 0,0,0}")
	c.Send("OMNIDRIVE {STRAIGHT 0} {SIDE 0.2} {ROT 0.5}")
	c.Send("GETGEO {Type Done}") // what comes back reports that all before it is done
	if _, err := c.Wait("GEO", "Type", "Done"); err != nil {
		fmt.Println(err)
		return
	}
	for _, wheel := range town.goals() {
		fmt.Printf("%.2f ", wheel)
	}
	// Output: 0.70 0.40 0.40
}

// town is a rig whose robots are scripted platforms; their wheels accept only angles.
type town struct {
	rig     *hal.Rig
	body    *haltest.Body
	address string
}

func (w *town) Spawn(class, name string, at hal.Pose) (*hal.Agent, error) {
	return w.rig.Add(hal.AgentConfig{Name: name, Body: w.body, World: w.body})
}

func (w *town) Remove(name string) error { return w.rig.Remove(name) }

// goals waits until the wheels have reached their goals.
func (w *town) goals() []float64 {
	out := make([]float64, 3)
	for range 1000 {
		w.rig.BetweenCycles(func() { copy(out, w.body.Position) })
		if math.Abs(out[0]-0.7) < 1e-9 {
			break
		}
		<-time.After(time.Millisecond)
	}
	return out
}

func omnitown(o gamebots.Options) (*town, func()) {
	rig, err := hal.New(hal.Config{Name: "omni", Mode: hal.Realtime, Period: time.Millisecond})
	if err != nil {
		panic(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	w := &town{rig: rig, body: haltest.NewBody("FWheel", "LeftRWheel", "RightRWheel"), address: ln.Addr().String()}
	w.body.Speed = 100
	s := gamebots.NewServer(rig, ln, gamebots.Arena{Spawner: w}, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- s.Serve(ctx) }()
	go func() { done <- rig.Run(ctx) }()
	return w, func() { cancel(); <-done; <-done }
}
