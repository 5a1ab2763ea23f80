package moast

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Run is what "halyard moast" runs.
type Run struct {
	World            string // a scene
	Host             string
	Port             int // of the first vehicle's buffers; the next ones have the next ports
	Levels, Encoding string
	INI              *INI // nil = one P2AT in the yellow arena's corridor
}

// corridor is where USARSim's P2AT is in the yellow arena: north, east, down, m.
var corridor = Start{4.5, 1.9, 1.8}

// Config is the config of a run: an agent and a server for each vehicle.
func (r *Run) Config() []byte {
	ini := cmp.Or(r.INI, &INI{})
	models := []string{"usarsim-pioneer"}
	for i, platform := range ini.Platforms {
		models = append(models[:i], modelOf(platform))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: moast\nclock: {mode: realtime, period: 10ms}\nworld: {scene: %q, seed: 1}\nagents:\n",
		sceneOf(r.World))
	for i, m := range models {
		at := corridor
		if i < len(ini.Starts) {
			at = ini.Starts[i]
			for k, d := range ini.Offset {
				at[k] -= d
			}
		}
		// hal's axes: x ahead, y left, z up
		fmt.Fprintf(&b, "  - {name: %s, model: %s, pose: {position: [%g, %g, %g], rotation: [%g, %g, %g]}}\n",
			r.agent(i), m, at[0], 0-at[1], 0-at[2], at[3], 0-at[4], 0-at[5])
	}
	b.WriteString("servers:\n")
	for i := range models {
		port := r.Port
		if port > 0 {
			port += i
		}
		fmt.Fprintf(&b, "  - {protocol: nml, agent: %s, listen: %q, levels: %q, encoding: %q, utm_offset: [%.3f, "+
			"%.3f, %.3f]",
			r.agent(i), net.JoinHostPort(r.Host, strconv.Itoa(port)), r.Levels, r.Encoding, ini.Offset[0],
			ini.Offset[1], ini.Offset[2])
		if ini.Cycle > 0 {
			fmt.Fprintf(&b, ", servo_cycle: %v", ini.Cycle)
		}
		b.WriteString("}\n")
	}
	return []byte(b.String())
}

// agent is the name of vehicle i, from 0.
func (r *Run) agent(i int) string {
	if r.INI == nil {
		return "p2at"
	}
	return fmt.Sprintf("vehicle%d", i+1)
}

// WriteBuffers writes c to the file called name, a new one or one that it wrote before. Another file with text is left
// as it is, and is an error.
func WriteBuffers(name string, c *nml.Config) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if about, err := f.Stat(); err == nil && about.Mode().IsRegular() && about.Size() > 0 {
		head := make([]byte, len(nml.Heading))
		if n, err := io.ReadFull(f, head); err != nil || string(head[:n]) != nml.Heading {
			return fmt.Errorf("%s: got a file that halyard moast did not write, want a new one (try: another name)",
				name)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
	}
	_, err = c.WriteTo(f)
	return err
}
