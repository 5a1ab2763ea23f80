package main

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/protocols/okon"
)

// The same client, byte for byte, dives to a depth and holds it on the simulated Okon and on the emulated one, in real time;
// the emergency stop then is acknowledged by every thruster.
func TestOkonClientDives(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds of real time a body")
	}
	for _, body := range []string{"sim", "emulated"} {
		t.Run(body, func(t *testing.T) {
			r := startServe(t, "okon", "--body", body, "--listen", "okon=127.0.0.1:0", "--listen", "okon-video=127.0.0.1:0")
			c, err := okon.Dial(r.address(t, "okon"), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(c.SetMode("stable"))
			must(c.Arm())
			must(c.SetStable(okon.Stable{Depth: 1.5}))
			tick, held := time.NewTicker(50*time.Millisecond), 0
			defer tick.Stop()
			for late := time.Now().Add(40 * time.Second); held < 20; <-tick.C {
				s, err := c.Sensors()
				must(err)
				if got := float64(s.Baro.Pressure) / pascalPerMetre; math.Abs(got-1.5) < 0.05 {
					held++
				} else if held = 0; time.Now().After(late) {
					t.Fatalf("got depth %.3f m after 40 s, want 1.5", got)
				}
			}
			if code, out, text := runApp(t, "estop", "-o", "jsonl"); code != 0 {
				t.Errorf("estop: exit %d: %s\n%s", code, text, out)
			}
		})
	}
}
