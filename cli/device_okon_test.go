package cli

import (
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols/okon"
)

// The same client, byte for byte, dives to a depth and holds it on the simulated Okon and on the emulated one, in real
// time; the emergency stop then is acknowledged by every thruster.
func TestOkonClientDives(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds of real time a body")
	}
	t.Parallel()
	for _, body := range []string{"sim", "emulated"} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			name := "dive-" + body
			r := startServe(t, "okon", "--body", body, "--set", "name="+name, "--listen", "okon=127.0.0.1:0",
				"--listen", "okon-video=127.0.0.1:0")
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
			for late := time.Now().Add(3 * time.Minute); held < 20; <-tick.C {
				s, err := c.Sensors()
				must(err)
				if got := float64(s.Baro.Pressure) / plan.PascalPerMetre; math.Abs(got-1.5) < 0.05 {
					held++
				} else if held = 0; time.Now().After(late) {
					t.Fatalf("got depth %.3f m after 3 minutes, want 1.5", got)
				}
			}
			stopRig(t, name, 0)
		})
	}
}

// The client of docs/okon.md, in Python and in real time, goes through the course on either body.
func TestOkonPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if os.Getenv("HALYARD_LONG") == "" || err != nil {
		t.Skip("some fifty seconds of real time a body: HALYARD_LONG=1 go test -run OkonPython ./cli; it " +
			"needs python3")
	}
	script, err := filepath.Abs("../docs/okon_client.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"sim", "emulated"} {
		t.Run(body, func(t *testing.T) {
			r := startServe(t, "okon", "--body", body, "--listen", "okon=127.0.0.1:0", "--listen",
				"okon-video=127.0.0.1:0")
			_, control, _ := net.SplitHostPort(r.address(t, "okon"))
			_, video, _ := net.SplitHostPort(r.address(t, "okon-video"))
			client := exec.Command(python, script, "127.0.0.1", control, video)
			client.Dir = t.TempDir() // it keeps a picture there
			out, err := client.CombinedOutput()
			t.Logf("%s", out)
			for _, want := range []string{"at 1.5 m\n", "a gate ", "all checkpoints reached\n",
				`finish zone {"id":"FZ1"}`, "there after "} {
				if err != nil || !strings.Contains(string(out), want) {
					t.Fatalf("got %v, and no %q", err, want)
				}
			}
		})
	}
}
