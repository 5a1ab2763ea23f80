package echelon

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// TestWrittenByClients: any client may write any buffer. A map of a wrong size, or a place that is not one, is ignored:
// each step ends soon, without a panic, and the vehicle still reaches its goal afterwards.
func TestWrittenByClients(t *testing.T) {
	maps := map[string]*moast.SensorData2D{
		"product overflows": {X: 65536, Y: 65536, IncrementX: resolution, IncrementY: resolution},
		"below 0":           {X: -1, Y: -1, IncrementX: resolution, IncrementY: resolution, Features: []float64{1}},
		"empty":             {IncrementX: resolution, IncrementY: resolution},
		"tiny cells":        {X: 2, Y: 2, IncrementX: 1e-5, IncrementY: 1e-5, Features: []float64{1, 1, 1, 1}},
		"no increment":      {X: 2, Y: 2, Features: []float64{1, 1, 1, 1}},
	}
	navs := map[string]*moast.NavDataExt{"far": {Rel: moast.Motion{Tran: moast.Cartesian{X: 1e300}}}}
	to := []moast.Waypoint{{P: moast.Cartesian{X: 1}, Neighborhood: 0.2, Speed: 0.5}}
	run := func(name, module, buffer string, command moast.Command, m nml.Message) {
		t.Run(name, func(t *testing.T) {
			s := start(t, newRover(), module)
			s.init()
			s.pass(2)
			s.send(command)
			s.pass(0.1)
			ended := make(chan any)
			go func() {
				defer func() { ended <- recover() }()
				for range 100 {
					if err := s.h.Buffer(buffer).Write(m); err != nil {
						t.Error(err)
					}
					*s.now += tick
					if err := s.h.Step(*s.now); err != nil {
						t.Error(err)
					}
				}
				for range 100 {
					*s.now += tick
					s.h.Step(*s.now)
				}
			}()
			select {
			case p := <-ended:
				if p != nil {
					t.Errorf("panic: %v", p)
				}
			case <-time.After(time.Minute):
				t.Fatal("a step does not end")
			}
		})
	}
	for name, m := range maps {
		run(name, "amMobJA", moast.MapBuffer(1), &moast.AMMobCmdMoveWaypoint{HorizonCosts: true, Waypoints: to}, m)
		run(name+", above", "vehMobPL", VehMapBuffer(1), &moast.VehMobCmdMoveWaypoint{Speed: 0.5, Waypoints: to}, m)
	}
	for name, m := range navs {
		run(name, "amMobJA", moast.NavDataBuffer(1), &moast.AMMobCmdMoveWaypoint{Waypoints: to}, m)
	}
}
