package cli

import (
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// TestPyro: the Python module spawns a P2AT over Gamebots, reads its sonars and scanner, and drives it about without a
// touch, in each Python that is installed.
func TestPyro(t *testing.T) {
	t.Parallel()
	ran := false
	for _, name := range []string{"python2", "python3"} {
		python, err := exec.LookPath(name)
		if err != nil || exec.Command(python, "--version").Run() != nil {
			continue
		}
		ran = true
		r := start(t, "serve", "usarsim", "--set", "name=pyro", "--listen", "gamebots=127.0.0.1:0", "--listen",
			"imageserver=127.0.0.1:0")
		port := ""
		for _, s := range r.Servers {
			if s.Protocol == "gamebots" {
				_, port, _ = net.SplitHostPort(s.Address)
			}
		}
		out, err := exec.Command(python, "../tools/pyro/run.py", "--port", port, "--seconds", "4").CombinedOutput()
		var steps, sonars, rays int
		var way, nearest float64
		n, _ := fmt.Sscanf(strings.TrimSpace(string(out)), "steps %d way %f m nearest %f m sonars %d rays %d", &steps,
			&way, &nearest, &sonars, &rays)
		if err != nil || n != 5 || steps < 10 || way < 0.1 || nearest < 0.15 || sonars != 16 || rays != 181 {
			t.Errorf("%s: got %s, %v, want 16 sonars, 181 rays, a way above 0.1 m and no touch", name, out, err)
		}
		attributes, err := exec.Command(python, "-c", pyroAttributes, port).CombinedOutput()
		if want := "USARSim 0.4 METERS sonar laser 1 0 0 True True 0.8 1.0 0.1 0.8 2.0 1.5"; err != nil ||
			strings.TrimSpace(string(attributes)) != want {
			t.Errorf("%s: attributes: got %s, %v, want %s", name, attributes, err, want)
		}
		r.interrupt(t)
	}
	if !ran {
		t.Skip("needs python2 or python3")
	}
}

// pyroAttributes prints what brains read of a robot and of its range sensors, whose ROBOTS are diameters.
const pyroAttributes = `
import sys
sys.path.insert(0, '../tools/pyro/robots/driver')
import utbot
r = utbot.UTBot(name='Attributes', location=(1.5, 1.9, 1.8), port=int(sys.argv[1]))
s = r.getDevice('sonar')
s.ranges = [0.8] * 16
words = [r.type, r.radius, r.units] + r.builtinDevices + [r.hasA('sonar'), r.hasA('camera'), r.stall]
words += [r.requires(['range-sensor', 'laser']) == 1, r.supports('odometry'), s.distance('M')[0], s['front'][0].value,
          s.rawToUnits(0.8, units='SCALED'), s.rawToUnits(1.0, units='UNRAW')]
r.localize(2.0, 1.5, 0.0)
words += [round(r.x, 3), round(r.y, 3)]
r.disconnect()
print(' '.join(str(w) for w in words))
`
