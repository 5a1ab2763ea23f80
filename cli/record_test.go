package cli

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
)

// TestRecordRealBody records an arm on a port of the operating system, and repeats the recording without the port:
// every cycle and every byte is the same. Then another zero in a joint's calibration is found by a counterfactual
// replay.
func TestRecordRealBody(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	port, unplug := startEmulate(t, "xm430-arm")
	config := realConfig(t, port)
	file := filepath.Join(t.TempDir(), "run.mcap")
	c, err := halyard.Load(config, halyard.Set("record.file", file), halyard.Set("clock.period", "20ms"),
		halyard.Set("buses.arm.latency", "200ms"),
		halyard.Set("servers", "[]"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c, halyard.WithBody("real"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cycles, moves := 0, make(chan float64, 1)
	s.OnCycle(func(*hal.Cycle) {
		select {
		case moves <- 0.2 * math.Sin(float64(cycles)/15):
		default:
		}
		if cycles++; cycles == 150 {
			cancel()
		}
	})
	s.Arm()
	var client sync.WaitGroup
	client.Go(func() {
		for {
			select {
			case to := <-moves:
				s.Agents()[0].Command(s.Agents()[0].Joints()[0], halyard.Position(to))
			case <-ctx.Done():
				return
			}
		}
	})
	ran := s.Run(ctx)
	client.Wait()
	if err := s.Close(); err != nil || ran != nil {
		t.Fatal(ran, err)
	}
	unplug()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := halyard.Replay(bytes.NewReader(text), halyard.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cycles < 140 || r.Different > 0 || r.Dropped > 0 {
		t.Errorf("got %d cycles, %d different, %d dropped, %.1000v; want all identical", r.Cycles, r.Different,
			r.Dropped, r.Rows())
	}

	joint := s.Agents()[0].Joints()[0]
	name := joint + ".yaml"
	own, err := os.ReadFile(filepath.Join(filepath.Dir(config), name))
	if err != nil {
		t.Fatal(err)
	}
	shifted := strings.Replace(string(own), "zero_ticks: 2048", "zero_ticks: 2148", 1)
	if shifted == string(own) {
		t.Fatalf("no zero in %s", own)
	}
	r, err = halyard.Replay(bytes.NewReader(text),
		halyard.ReplayOptions{Files: map[string][]byte{name: []byte(shifted)}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, d := range r.Divergences {
		if strings.HasPrefix(d.What, "measured."+joint+".position") {
			found = math.Abs(d.Largest-100*2*math.Pi/4096) < 1e-9
		} else if strings.HasPrefix(d.What, "measured.") && strings.HasSuffix(d.What, ".position") {
			t.Errorf("another joint was measured otherwise: %+v", d)
		}
	}
	if !found {
		t.Errorf("got %+v, want %s measured 100 ticks elsewhere", r.Rows(), joint)
	}
}

// TestReplayCommand: replay of an identical, a truncated, an invalid and a different recording.
func TestReplayCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.mcap")
	c, err := halyard.Load("so101", halyard.Set("record.file", file))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second recording leaves the first one under another name
		s, err := halyard.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		s.Arm()
		for i := range 200 {
			a := s.Agents()[0]
			if err := a.Command(a.Joints()[1], halyard.Position(float64(i)/400)); err != nil {
				t.Fatal(err)
			}
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "run-*.mcap")); len(kept) != 1 {
		t.Errorf("got %v, want the first recording kept", kept)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut, none := filepath.Join(dir, "cut.mcap"), filepath.Join(dir, "none.mcap")
	os.WriteFile(cut, whole[:len(whole)*2/3], 0o600)
	os.WriteFile(none, []byte("no recording"), 0o600)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"replay", file}, 0, "200 cycles compared, 0 different"},
		{[]string{"replay", cut}, 0, "the file is cut"},
		{[]string{"replay", file, "-q"}, 0, "200 cycles compared"},
		{[]string{"replay", file, "-o", "jsonl"}, 0, `{"cycles":200,"different":0,"not_in_file":0,"cut":""}`},
		{[]string{"replay", file, "-o", "json"}, 0, `"cycles": 200`},
		{[]string{"replay", none}, 2, "got no MCAP file"},
		{[]string{"replay", filepath.Join(dir, "absent.mcap")}, 2, "no such file"},
		{[]string{"replay", file, "--set", "agents[0].guard.slew=0.05"}, 8, "shoulder_lift"},
		{[]string{"replay", file, "--file", "x.yaml=" + none}, 2, "want an attached file"},
		{[]string{"replay", file, "--as-body"}, 0, "0 different"}, // it was simulated
		{[]string{"export", file, "--csv", filepath.Join(dir, "csv"), "-o", "jsonl"}, 0, "so101_state.csv"},
		{[]string{"export", file, "--csv", filepath.Join(dir, "csv")}, 1, "exists"},
		{[]string{"export", file, "--files", "-o", "jsonl"}, 0, `{"file":"halyard-config.yaml","bytes":`},
		{[]string{"export", file, "--files", "--csv", "x"}, 2, "want --csv or --files"},
		{[]string{"export", none, "--csv", filepath.Join(dir, "csv2")}, 2, "got no MCAP file"},
	} {
		code, out, errText := runApp(t, c.args...)
		if code != c.code || !strings.Contains(out+errText, c.says) {
			t.Errorf("%v: got exit %d: %.300s%.600s; want %d and %q", c.args, code, out, errText, c.code, c.says)
		}
	}
	state, err := os.ReadFile(filepath.Join(dir, "csv", "so101_state.csv"))
	if lines := bytes.Count(state, []byte("\n")); err != nil || lines != 201 {
		t.Errorf("so101_state.csv: got %d lines, %v, want 201", lines, err)
	}
}

// TestRecordCommand records a rig that runs over its control socket, a second recorder is told that there is one.
func TestRecordCommand(t *testing.T) {
	startServe(t, "so101", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0")
	file := filepath.Join(t.TempDir(), "run.mcap")
	ctx, cancel := context.WithCancel(t.Context())
	var recorder sync.WaitGroup
	var ran error
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	recorder.Go(func() { ran = control.Record(ctx, "so101", &firstWrite{file: f, begun: begun}) })
	<-begun
	if code, _, errText := runApp(t, "record", "--out", filepath.Join(t.TempDir(), "other.mcap")); code != 4 ||
		!strings.Contains(errText, "recorded already") || !strings.Contains(errText, "attached: halyard-config.yaml") {
		t.Errorf("second recorder: got exit %d: %s, want 4", code, errText)
	}
	cancel()
	recorder.Wait()
	if ran != nil {
		t.Fatal(ran)
	}
	if code, out, errText := runApp(t, "export", file, "--csv", t.TempDir()+"/csv", "-o", "jsonl"); code != 0 ||
		!strings.Contains(out, "cycle.csv") || strings.Contains(errText, "cut") {
		t.Errorf("export: got exit %d: %s%s, want a whole file with cycles", code, out, errText)
	}
}

// firstWrite says when the first chunk of messages has come, after the head of the file.
type firstWrite struct {
	file  *os.File // not embedded: io.Copy would write to it by itself
	begun chan struct{}
	n     int
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.n += len(p); w.n > 1<<14 && w.begun != nil {
		close(w.begun)
		w.begun = nil
	}
	return w.file.Write(p)
}
