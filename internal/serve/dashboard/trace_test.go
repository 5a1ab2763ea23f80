package dashboard

import (
	"encoding/binary"
	"math"
	"net/http/httptest"
	"testing"
	"time"
)

// TestTrace: a ticked channel has a sample of every cycle, and its peak is in what is thinned out.
func TestTrace(t *testing.T) {
	sys, s := emulated(t, "so101")
	s.sampler.take()
	get := func(query string) []point {
		t.Helper()
		w := httptest.NewRecorder()
		s.trace(w, httptest.NewRequest("GET", "/trace?rig=0&channel=so101/shoulder_lift/position"+query, nil))
		b := w.Body.Bytes()
		if w.Code != 200 || len(b) < 4 {
			t.Fatalf("%s: got %d %q", query, w.Code, b)
		}
		list := make([]point, binary.LittleEndian.Uint32(b))
		for i := range list {
			at := b[4+traceSample*i:]
			list[i] = point{math.Float64frombits(binary.LittleEndian.Uint64(at)),
				math.Float32frombits(binary.LittleEndian.Uint32(at[8:]))}
		}
		return list
	}
	tracer := &s.sampler.rigs[0].tracer
	if tracer.active.Load() {
		t.Error("got a trace that is kept before a page asks for it")
	}
	if list := get(""); len(list) != 0 || !tracer.active.Load() {
		t.Errorf("at first: got %d samples, kept %v", len(list), tracer.active.Load())
	}
	const cycles = 300
	for range cycles { // the arm falls
		if err := sys.Rig.Step(); err != nil {
			t.Fatal(err)
		}
		<-tracer.ended
		tracer.sample(sys.Rig, time.Now())
	}
	all := get("")
	if len(all) < cycles-1 {
		t.Fatalf("after %d cycles: got %d samples", cycles, len(all))
	}
	peak := all[0]
	for i, p := range all {
		if i > 0 && math.Abs(p.time-all[i-1].time-sys.Rig.Period().Seconds()) > 1e-9 {
			t.Fatalf("sample %d: got %.4f s after %.4f s, want one each %v", i, p.time, all[i-1].time, sys.Rig.Period())
		}
		if p.value > peak.value {
			peak = p
		}
	}
	few := get("&most=20")
	found := false
	for _, p := range few {
		found = found || p == peak
	}
	if len(few) > 22 || !found {
		t.Errorf("of %d samples 20: got %d, with the peak: %v", len(all), len(few), found)
	}
	if got := get("&after=" + "1e9"); len(got) != 0 {
		t.Errorf("after all: got %d samples", len(got))
	}
	tracer.sample(sys.Rig, time.Now().Add(2*traceIdle))
	if tracer.active.Load() {
		t.Error("without requests: the channel is still kept")
	}
}

// TestTraceRefuses: what is no channel of a robot, and more than maxTraced, is refused.
func TestTraceRefuses(t *testing.T) {
	_, s := emulated(t, "so101")
	for query, want := range map[string]int{
		"rig=7": 400, "rig=0&after=x": 400, "rig=0&most=0": 400, "rig=0&channel=other/elbow": 404,
		"rig=0&channel=so101/nose": 404,
	} {
		w := httptest.NewRecorder()
		s.trace(w, httptest.NewRequest("GET", "/trace?"+query, nil))
		if w.Code != want {
			t.Errorf("%s: got %d %s, want %d", query, w.Code, w.Body, want)
		}
	}
	var c tracer
	for i := range maxTraced {
		if _, err := c.since("a", string(rune('a'+i)), -1, 10, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.since("b", "x", -1, 10, time.Now()); err == nil {
		t.Error("got one channel more than maxTraced")
	}
	if _, err := c.since("b", "x", -1, 10, time.Now().Add(2*traceIdle)); err != nil || len(c.list) != 1 {
		t.Errorf("where no page has asked for the others, and no cycle passes: got %v, %d channels", err, len(c.list))
	}
}

// TestThinUnknown: a value that was not measured hides no peak of its run.
func TestThinUnknown(t *testing.T) {
	nan := float32(math.NaN())
	got := thin([]point{{0, nan}, {1, 2}, {2, 9}, {3, -4}, {4, 1}, {5, nan}}, 2)
	if len(got) != 2 || got[0].value != 9 || got[1].value != -4 {
		t.Errorf("got %v, want the peaks 9 and -4", got)
	}
}
