package halyard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/sim/model"
)

// recorded runs a config for some cycles with a swinging joint, and returns its recording.
func recorded(t *testing.T, c *halyard.Config, cycles int) []byte {
	t.Helper()
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var file bytes.Buffer
	r, err := s.Record(&file)
	if err != nil {
		t.Fatal(err)
	}
	s.Arm()
	a := s.Agents()[0]
	for i := range cycles {
		if err := a.Command(a.Joints()[0], halyard.Position(0.4*math.Sin(float64(i)/20))); err != nil {
			t.Fatal(err)
		}
		if i == cycles/2 {
			s.Stop("test")
			s.Reset()
			s.Arm()
		}
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if stats, err := r.Stop(); err != nil || stats.Dropped > 0 || stats.Cycles != uint64(cycles) {
		t.Fatalf("got %+v, %v, want %d cycles", stats, err, cycles)
	}
	return file.Bytes()
}

func TestReplayIsIdentical(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		c, err := halyard.Load("so101", halyard.Set("agents[0].body", body))
		if err != nil {
			t.Fatal(err)
		}
		file := recorded(t, c, 300)
		got, err := halyard.Replay(bytes.NewReader(file), halyard.ReplayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, %d cycles", body, len(file), got.Cycles)
		if got.Cycles != 300 || got.Different != 0 || len(got.Divergences) > 0 || got.Cut != "" {
			t.Errorf("%s: got %d cycles, %d different, %+v, cut %q, want 300 identical", body, got.Cycles,
				got.Different, got.Divergences, got.Cut)
		}
	}
}

// TestReplayOfPackage: a robot is replayed though its folder has gone: with the meshes that a URDF names by its
// package, below the config's folder or above it, and the included files and meshes of an MJCF.
func TestReplayOfPackage(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "arm"), os.DirFS("sim/model/testdata/arm")); err != nil {
		t.Fatal(err)
	}
	for at, model := range map[string]string{dir: "arm/urdf/arm.urdf", filepath.Join(dir, "arm"): "urdf/arm.urdf"} {
		config := "name: package\nclock: {mode: lockstep, period: 10ms}\nagents:\n  - {name: arm, model: " + model +
			", body: sim}\n"
		if err := os.WriteFile(filepath.Join(at, "rig.yaml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"mujoco.yaml": "name: mujoco\nclock: {mode: lockstep, period: 10ms}\nagents:\n  - {name: arm, model: " +
			"mj/arm.xml, body: sim}\n",
		"mj/arm.xml": `<mujoco><compiler meshdir="../shapes"/><include file="inner.xml"/><worldbody><body name="a"><joint name="j"/>` +
			`<geom type="mesh" mesh="t"/></body></worldbody></mujoco>`,
		"mj/inner.xml": `<mujoco><asset><mesh file="t.obj"/></asset></mujoco>`,
		"shapes/t.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	load := func(name string) *halyard.Config {
		c, err := halyard.Load(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	inside, err := load("arm/rig.yaml").Archive(model.FilesOf)
	if err != nil || fmt.Sprint(inside.Absent) != "[package://arm/meshes/base.dae]" { // which is only drawn
		t.Errorf("a config inside the package: got absent %v, %v", inside.Absent, err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"rig.yaml", "arm/rig.yaml", "mujoco.yaml"} {
		files[name] = recorded(t, load(name), 50)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, file := range files {
		got, err := halyard.Replay(bytes.NewReader(file), halyard.ReplayOptions{})
		if err != nil || got.Cycles != 50 || got.Different != 0 {
			t.Errorf("%s: got %+v, %v, want 50 identical cycles", name, got, err)
		}
	}
}

// TestReplayOfGap: a recording that claims more lost cycles than any has is refused; replaying them would not end.
func TestReplayOfGap(t *testing.T) {
	c, err := halyard.Load("pendulum")
	if err != nil {
		t.Fatal(err)
	}
	file, err := record.NewReader(bytes.NewReader(recorded(t, c, 3)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var bad bytes.Buffer
	w, err := record.NewWriter(&bad, &file.Info)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		m, err := file.Next()
		if err == io.EOF {
			break
		}
		if m.Topic == "/cycle" {
			if n++; n == 3 {
				m.Data = []byte(`{"number":18446744073709551615,"time":1,"dropped_cycles":18446744073709551612}`)
			}
		}
		if err := errors.Join(err, w.Channel(m.Topic, "a", "{}"), w.Message(m.Topic, 0, 0, m.Data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := halyard.Replay(&bad, halyard.ReplayOptions{})
		done <- err
	}()
	select {
	case err := <-done:
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("got %v, want an invalid recording", err)
		}
	case <-time.After(time.Minute):
		t.Error("it is still replayed after a minute")
	}
}

// TestRecordedCrowd: clients without a lease, and operators, command a recorded rig at once: it never hangs, and the
// recording repeats.
func TestRecordedCrowd(t *testing.T) {
	c, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"), halyard.Set("clock.mode", "realtime"),
		halyard.Set("servers", "[]"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var file bytes.Buffer
	r, err := s.Record(&file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	a := s.Rig().Agents()[0]
	const clients = 8
	// A record holds the orders of one cycle within a bound, so the crowd goes on with the cycles, however fast the
	// machine is.
	cycles := make(chan struct{})
	defer s.OnCycle(func(*hal.Cycle) {
		for range clients {
			select {
			case cycles <- struct{}{}:
			default:
			}
		}
	})()
	var crowd sync.WaitGroup
	for client := range clients {
		crowd.Go(func() {
			goals := make([]float64, len(a.Layout().Inputs))
			for n := range 2000 {
				for i := range goals {
					goals[i] = 0.3 * math.Sin(float64(n)/50)
				}
				switch (n + client) % 97 {
				case 0:
					a.RequestDisarm("client")
				case 1, 2:
					a.RequestArm("client")
				case 40:
					s.Rig().Disarm()
				case 41, 71:
					s.Arm()
				default:
					a.Override(goals)
					a.Renew()
				}
				if runtime.Gosched(); n%100 == 99 {
					<-cycles
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { crowd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the rig hangs")
	}
	cancel()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	stats, err := r.Stop()
	if err != nil || stats.Orders > 0 {
		t.Fatalf("got %+v, %v", stats, err)
	}
	got, err := halyard.Replay(bytes.NewReader(file.Bytes()), halyard.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Cycles == 0 || got.Different != 0 {
		t.Errorf("got %d cycles, %d different, %.2000v, want all identical", got.Cycles, got.Different, got.Divergences)
	}
}

func TestReplayRealtime(t *testing.T) {
	c, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"), halyard.Set("clock.mode", "realtime"),
		halyard.Set("servers", "[]"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var file bytes.Buffer
	r, err := s.Record(&file)
	if err != nil {
		t.Fatal(err)
	}
	s.Arm()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	n := 0.0
	cycles := make(chan struct{}, 1)
	stop := s.OnCycle(func(*hal.Cycle) {
		select {
		case cycles <- struct{}{}:
		default:
		}
	})
	defer stop()
	go func() {
		a := s.Agents()[0]
		for {
			select {
			case <-cycles:
			case <-ctx.Done():
				return
			}
			n++
			a.Command(a.Joints()[0], halyard.Position(0.4*math.Sin(n/20)))
		}
	}()
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	stats, err := r.Stop()
	t.Log(stats, err, file.Len())
	got, err := halyard.Replay(bytes.NewReader(file.Bytes()), halyard.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Cycles == 0 || got.Cycles != stats.Cycles || got.Different != 0 {
		t.Errorf("got %d of %d cycles, %d different, %.2000v, want all, identical", got.Cycles, stats.Cycles,
			got.Different, got.Divergences)
	}
}

// TestRecordTwice: bytes on lines between two recordings are in neither of them.
func TestRecordTwice(t *testing.T) {
	c, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var sizes [2]int64
	for i := range sizes {
		r, err := s.Record(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		stats, err := r.Stop()
		if err != nil || stats.Ops != 0 {
			t.Fatalf("recording %d: got %+v, %v, want no line op lost", i, stats, err)
		}
		sizes[i] = stats.Bytes
		for range 2000 {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if sizes[1] > 2*sizes[0] {
		t.Errorf("got %d bytes, then %d, of as many cycles", sizes[0], sizes[1])
	}
}

// TestRecordPictures: the camera of a rover that joins is recorded if the config enables pictures.
func TestRecordPictures(t *testing.T) {
	for _, asked := range []bool{true, false} {
		n := 0
		for within := time.Second; n == 0 && within < 20*time.Second; within *= 4 { // a busy machine draws late
			n = recordedPictures(t, asked, within)
			if !asked {
				break
			}
		}
		if (n > 0) != asked {
			t.Errorf("pictures %v: got %d", asked, n)
		}
	}
}

// recordedPictures counts the pictures in a recording of so long, and checks each.
func recordedPictures(t *testing.T, asked bool, within time.Duration) (n int) {
	t.Helper()
	c, err := halyard.Load("p2at", halyard.Set("servers", "[]"), halyard.Set("record.pictures", fmt.Sprint(asked)),
		halyard.Set("clock.mode", "lockstep"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var file bytes.Buffer
	r, err := s.Record(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Spawn("USARBot.P2AT", "rover",
		hal.Pose{Position: [3]float64{0, 0, 0.3}, Rotation: [4]float64{1}}); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < within; {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	in, err := mcap.NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	messages, err := in.Messages()
	if err != nil {
		t.Fatal(err)
	}
	for {
		schema, channel, m, err := messages.NextInto(nil)
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if schema.Name != "foxglove.CompressedImage" {
			continue
		}
		n++
		var p struct {
			Timestamp struct{ Sec, Nsec int64 }
			Data      []byte
			Format    string
		}
		if err := json.Unmarshal(m.Data, &p); err != nil {
			t.Fatal(err)
		}
		image, err := jpeg.Decode(bytes.NewReader(p.Data))
		if err != nil || p.Format != "jpeg" || image.Bounds().Dx() < 100 ||
			channel.Topic != "/rover/camera/compressed" || uint64(p.Timestamp.Sec*1e9+p.Timestamp.Nsec) != m.LogTime {
			t.Fatalf("%s: got %s, %v, at %v of %d", channel.Topic, p.Format, err, p.Timestamp, m.LogTime)
		}
	}
}

// TestRecordRing: the cycles before a stop are kept, with the config's settings only.
func TestRecordRing(t *testing.T) {
	dir := t.TempDir()
	c, err := halyard.Load("so101", halyard.Set("record.file", filepath.Join(dir, "run.mcap")),
		halyard.Set("record.ring", "1s"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if i == 250 {
			s.Stop("test")
		}
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if saved, _ := filepath.Glob(filepath.Join(dir, "run-saved-*.mcap")); len(saved) != 2 {
		t.Errorf("got %v, want two files that were saved", saved)
	}
}

// BenchmarkStep measures a cycle of the humanoid, without and with a recording of its lines. In lock-step it also waits
// for the writer, so the result is the upper bound of the cost.
func BenchmarkStep(b *testing.B) {
	for _, body := range []string{"sim", "emulated"} {
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/recorded=%t", body, recorded), func(b *testing.B) {
				c, err := halyard.Load("a-series", halyard.Set("agents[0].body", body),
					halyard.Set("clock.period", "1ms"), halyard.Set("servers", "[]"))
				if err != nil {
					b.Fatal(err)
				}
				s, err := halyard.Open(c)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if recorded {
					r, err := s.Record(io.Discard)
					if err != nil {
						b.Fatal(err)
					}
					defer r.Stop()
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRecorded is a cycle of the emulated humanoid at 1 kHz, in turn alone and recorded with its lines for half a
// second each. It reports quantiles of the time of a cycle over all rounds, and the allocations of a cycle.
func BenchmarkRecorded(b *testing.B) {
	c, err := halyard.Load("a-series", halyard.Set("agents[0].body", "emulated"), halyard.Set("clock.period", "1ms"),
		halyard.Set("servers", "[]"))
	if err != nil {
		b.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var took [2]hal.Histogram
	var allocs [2]uint64
	round := func(i int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		for n := range 500 {
			start := time.Now()
			if err := s.Step(); err != nil {
				b.Fatal(err)
			}
			took[i].Add(time.Since(start))
			time.Sleep(time.Until(begin.Add(time.Duration(n+1) * time.Millisecond)))
		}
		runtime.ReadMemStats(&after)
		allocs[i] += after.Mallocs - before.Mallocs
	}
	for b.Loop() {
		round(0)
		r, err := s.Record(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		round(1)
		if _, err := r.Stop(); err != nil {
			b.Fatal(err)
		}
	}
	for i, name := range []string{"alone", "recorded"} {
		for _, q := range []struct {
			name string
			at   float64
		}{{"p1", 0.01}, {"p10", 0.1}, {"p50", 0.5}, {"p99", 0.99}} {
			b.ReportMetric(float64(took[i].Quantile(q.at).Nanoseconds())/1e3, "us-"+q.name+"-"+name)
		}
		b.ReportMetric(float64(allocs[i])/float64(took[i].Count()), "allocs-"+name)
	}
}
