package shell

import (
	"errors"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// TestModules: the diagnostics show each module's command and status, and do not read it.
func TestModules(t *testing.T) {
	m := &memory{all: map[string]*nml.Buffer{}}
	stat := &moast.PrimMobStat{}
	stat.CommandType, stat.EchoSerial, stat.Status, stat.Admin, stat.Message = 8010, 7, moast.Error,
		moast.AdminInitialized, "no position"
	if err := m.buffer("primMobJAStat1").Write(stat); err != nil {
		t.Fatal(err)
	}
	c := &moast.PrimMobCmdVel{V: 1}
	c.Serial = 8
	if err := m.buffer("primMobJACmd1").Write(c); err != nil {
		t.Fatal(err)
	}
	before := m.buffer("primMobJAStat1").State().Reads
	open := func(name string) (Channel, error) {
		if strings.HasPrefix(name, "amMob") {
			return nil, errors.New("no server")
		}
		return looker{m.buffer(name)}, nil
	}
	d, err := OpenModules([]string{"navDataExt1", "primMobJACmd1", "primMobJAStat1", "amMobJAStat1",
		"servoMisJAStat1_2"}, open)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var out strings.Builder
	if err := d.Print(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], "primMobJA1       PrimMobJACmdVel                  8       7 "+
		"ERROR             0 INITIALIZED          0    0.0  no position") ||
		!strings.HasPrefix(lines[2], "servoMisJA1_2 ") {
		t.Errorf("got\n%s", out.String())
	}
	if n := m.buffer("primMobJAStat1").State().Reads; n != before {
		t.Errorf("reads: got %d, want %d: it only looks on", n, before)
	}
	if _, err := OpenModules([]string{"navDataExt1", "amMobJAStat1"}, open); err == nil ||
		!strings.Contains(err.Error(), "no server") {
		t.Errorf("no module: got %v", err)
	}
}

// looker peeks as a client over TCP does.
type looker struct{ *nml.Buffer }

func (c looker) Write(m nml.Message, _ bool) error          { return c.Buffer.Write(m) }
func (c looker) Read(v nml.Vocabulary) (nml.Message, error) { return channel(c).Read(v) }
func (c looker) Peek(nml.Vocabulary) (nml.Message, error) {
	for _, m := range []nml.Message{&moast.PrimMobStat{}, &moast.PrimMobCmdVel{}} {
		if err := c.Buffer.Peek(m); err == nil {
			return m, nil
		}
	}
	return nil, nml.ErrOld
}
