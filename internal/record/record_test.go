package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/servo"
)

// orders is every kind of order, as it is written.
var orders = []struct {
	order hal.Order
	text  string
}{
	{hal.Order{Kind: hal.CommandOrder, Cycle: 7, Agent: "arm",
		Inputs: []float64{0.1, math.NaN(), math.Inf(1), math.Copysign(0, -1)}},
		`{"cycle":7,"kind":"command","agent":"arm","inputs":[0.1,null,1e999,-0]}`},
	{hal.Order{Kind: hal.StopOrder, Cycle: 8, Name: "a \"button\"\n"},
		`{"cycle":8,"kind":"stop","name":"a \"button\"\u000a"}`},
	{hal.Order{Kind: hal.ResetOrder, Cycle: 9, Seed: -3}, `{"cycle":9,"kind":"reset","seed":-3}`},
	{hal.Order{Kind: hal.SetOrder, Cycle: 10, Name: "/Control/Pause",
		Value: hal.Value{Kind: hal.BoolValue, Bool: true}},
		`{"cycle":10,"kind":"set","name":"/Control/Pause","value":{"kind":0,"bool":true,"int":0,"double":0,"text":"","vector":[0,0,0,0]}}`},
	{hal.Order{Kind: hal.RequestArmOrder, Cycle: 11, Agent: "arm", Name: "osp@x"},
		`{"cycle":11,"kind":"request_arm","agent":"arm","name":"osp@x"}`},
}

func TestOrders(t *testing.T) {
	for _, c := range orders {
		text := appendOrder(nil, &c.order)
		if string(text) != c.text {
			t.Errorf("got  %s\nwant %s", text, c.text)
		}
		if got, err := ParseOrder(text); err != nil || string(appendOrder(nil, &got)) != c.text {
			t.Errorf("%s: read back as %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "{}", `{"kind":"dance"}`, `{"kind":"command","inputs":["x"]}`} {
		if _, err := ParseOrder([]byte(bad)); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

// rig is a rig in lock-step with one arm.
func rig(t testing.TB, mode hal.ClockMode) *hal.Rig {
	t.Helper()
	r, err := hal.New(hal.Config{Name: "test", Mode: mode, Period: 10 * time.Millisecond, Clock: &stopped{}})
	if err != nil {
		t.Fatal(err)
	}
	b := haltest.NewBody("elbow", "wrist")
	if _, err := r.Add(hal.AgentConfig{Name: "arm", Body: b, World: b}); err != nil {
		t.Fatal(err)
	}
	return r
}

// stopped is a clock in which no time passes. With a rig in real time it calls each before each cycle, and end before
// the last.
type stopped struct {
	left int
	each func()
	end  func()
}

func (*stopped) Now() time.Duration { return 0 }

func (s *stopped) SleepUntil(time.Duration) {
	if s.left--; s.left == 0 {
		s.end()
	}
	s.each()
}

var info = Info{Version: "test", Rig: "test", Clock: "lockstep", Period: 10 * time.Millisecond, Seed: 1, First: 1,
	Started: time.Unix(1_700_000_000, 0).UTC(), Attached: []File{{ConfigName, []byte("name: test\n")}}}

// line is one in memory that answers with what was sent.
type line struct {
	sent []byte
	now  time.Duration
}

func (l *line) Write(p []byte) (int, error) { l.sent = append(l.sent, p...); return len(p), nil }
func (l *line) Read(p []byte, _ time.Duration) (int, error) {
	if len(l.sent) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, l.sent)
	l.sent = l.sent[n:]
	return n, nil
}
func (l *line) Discard() error     { l.sent = nil; return nil }
func (l *line) Now() time.Duration { l.now++; return l.now }
func (l *line) Baud() int          { return 1000 }
func (l *line) SetBaud(int) error  { return nil }
func (l *line) Close() error       { return servo.ErrDisconnected }

// talk uses a line in every way and reports what it heard.
func talk(t testing.TB, open servo.Opener) (heard []any) {
	t.Helper()
	l, err := open()
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 8)
	for range 2 {
		n, err := l.Write([]byte{1, 2, 3})
		heard = append(heard, n, err, l.Now())
		n, err = l.Read(p, time.Second)
		heard = append(heard, string(p[:n]), err, l.Now())
		n, err = l.Read(p, time.Second)
		heard = append(heard, n, errors.Is(err, os.ErrDeadlineExceeded), l.Discard(), l.SetBaud(9600))
	}
	return append(heard, errors.Is(l.Close(), servo.ErrDisconnected))
}

// record runs cycles of r, with a line that is used in each, and returns the file and what the line's user heard.
func recordRig(t testing.TB, r *hal.Rig, cycles int) (file []byte, heard []any) {
	t.Helper()
	var taps Taps
	open := taps.Tap(taps.Name("upper"), func() (servo.Line, error) { return &line{}, nil })
	var out bytes.Buffer
	rec, err := Start(r, &taps, &out, info, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i := range cycles {
		r.Agents()[0].Override([]float64{float64(i) / 100})
		heard = append(heard, talk(t, open)...)
		if err := r.ReplayCycle(0); err != nil {
			t.Fatal(err)
		}
	}
	if stats, err := rec.Stop(); err != nil || stats.Cycles != uint64(cycles) {
		t.Fatalf("got %+v, %v, want %d cycles", stats, err, cycles)
	}
	return out.Bytes(), heard
}

// TestRoundTrip reads a recording back: what it says of itself, what is attached, each message valid JSON, and the line
// plays back to a user what it was told then. The library's own indexed reader reads the same messages.
func TestRoundTrip(t *testing.T) {
	file, heard := recordRig(t, rig(t, hal.Lockstep), 3)
	d, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	head := info
	head.Layouts = map[string]Layout{"arm": {Inputs: []string{"elbow/position", "elbow/torque_limit", "wrist/position",
		"wrist/torque_limit"}, Joints: []Joint{{"elbow", 0, true, false, -2, 2}, {"wrist", 2, true, false, -2, 2}}}}
	if !reflect.DeepEqual(d.Info, head) {
		t.Errorf("got %+v\nwant %+v", d.Info, head)
	}
	count := map[string]int{}
	p := NewPlayback("upper", 1000)
	var state []byte
	for {
		m, err := d.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(m.Data) {
			t.Errorf("%s: got no JSON: %s", m.Topic, m.Data)
		}
		if count[m.Topic]++; m.Topic == LineTopic("upper") {
			if err := p.Feed(m.Data); err != nil {
				t.Fatal(err)
			}
		}
		if TopicOf(m.Topic) == StateTopic {
			state = bytes.Clone(m.Data)
		}
	}
	if d.Cut != nil || count["/cycle"] != 3 || count["/arm/state"] != 3 || count["/orders"] != 3 ||
		count["/bus/upper"] != 3 {
		t.Errorf("got %v, cut %v, want 3 messages of each", count, d.Cut)
	}
	const want = `{"time":0.03,"guard":"armed","counts":{"refused":0,"clamped":0,"expired":0,"locked":0,"jumped":0,"stops":0},` +
		`"inputs":{"elbow":{"position":0.02,"torque_limit":null},"wrist":{"position":null,"torque_limit":null}},` +
		`"measured":{"elbow":{"position":0.02,"velocity":0},"wrist":{"position":0,"velocity":0}},"enabled":{"elbow":true,"wrist":false},` +
		`"joints":{"elbow":"armed","wrist":"armed"},"devices":{"elbow":{"time":0.03,"drive":0},"wrist":{"time":0.03,"drive":0}},"holder":""}`
	if string(state) != want {
		t.Errorf("got  %s\nwant %s", state, want)
	}
	var again []any
	for range 3 {
		again = append(again, talk(t, p.Open)...)
	}
	if !reflect.DeepEqual(again, heard) || p.Differs > 0 {
		t.Errorf("playback: got %v\nwant %v\n%s", again, heard, p.First)
	}

	r, err := mcap.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := r.Info()
	if err != nil || list.Statistics.MessageCount < 12 || len(list.Schemas) != 5 {
		t.Errorf("the library's reader: got %+v, %v", list, err)
	}
	for _, s := range list.Schemas {
		if !json.Valid(s.Data) || s.Encoding != "jsonschema" {
			t.Errorf("schema %s: got %s", s.Name, s.Data)
		}
	}
}

// TestPlaybackDiffers: a user that sends other bytes hears the old answers, and the difference is told.
func TestPlaybackDiffers(t *testing.T) {
	p := NewPlayback("upper", 1000)
	if err := p.Feed([]byte(`{"cycle":5,"ops":[{"op":"write","data":"0102"},{"op":"read","data":"aa"}]}`)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	p.Write([]byte{1, 3})
	if n, err := p.Read(b, 0); n != 1 || err != nil || b[0] != 0xAA {
		t.Errorf("got % x, %v, want aa", b[:n], err)
	}
	if _, err := p.Read(b, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the end: got %v, want no answer", err)
	}
	if p.Differs != 2 || !strings.Contains(p.First, "cycle 5: sent 01 03, was 01 02") {
		t.Errorf("got %d, %q", p.Differs, p.First)
	}
	for _, bad := range []string{"{", `{"ops":[{"op":"sing"}]}`, `{"ops":[{"op":"write","data":"0"}]}`} {
		if err := p.Feed([]byte(bad)); err == nil {
			t.Errorf("%s: got no error", bad)
		}
	}
}

// TestCutAndHostile reads a file that ends anywhere as far as it goes, and refuses what is no recording.
func TestCutAndHostile(t *testing.T) {
	file, _ := recordRig(t, rig(t, hal.Lockstep), 20)
	for n := range len(file) {
		d, err := NewReader(bytes.NewReader(file[:n]))
		if err != nil {
			continue // its head is cut
		}
		for err == nil {
			_, err = d.Next()
		}
		// The index follows the end of the data; the decoder does not need it.
		if err != io.EOF {
			t.Fatalf("cut at %d: got %v, want io.EOF", n, err)
		}
		d.Close()
	}
	for name, bad := range map[string]Info{
		"absolute":  {Rig: "x", Started: time.Unix(0, 0), Attached: []File{{"/etc/passwd", nil}}},
		"outside":   {Rig: "x", Started: time.Unix(0, 0), Attached: []File{{"../x", nil}}},
		"two":       {Rig: "x", Started: time.Unix(0, 0), Attached: []File{{"x", nil}, {"x", nil}}},
		"backslash": {Rig: "x", Started: time.Unix(0, 0), Attached: []File{{`a\b`, nil}}},
	} {
		var b bytes.Buffer
		if w, err := NewWriter(&b, &bad); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		if d, err := NewReader(&b); err == nil && d.Cut == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// TestHostileSizes: a file cannot claim more memory than a recording may have.
func TestHostileSizes(t *testing.T) {
	file, _ := recordRig(t, rig(t, hal.Lockstep), 2)
	// A frame of zstd with a window of 512 MB, and in it 100 zeros.
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x98, 0x23, 3, 0, 0}
	for _, c := range []struct {
		name, before string
		bytes        []byte
	}{
		{"name of 4 GB", "\x13\x00\x00\x00" + ConfigName, []byte{0xff, 0xff, 0xff, 0xff}},
		{"media type of 4 GB", "\x18\x00\x00\x00application/octet-stream", []byte{0xff, 0xff, 0xff, 0xff}},
		{"window of 512 MB", string(wide[:4]), wide},
	} {
		at := bytes.Index(file, []byte(c.before))
		if at < 0 {
			t.Fatalf("%s: not in the file", c.name)
		}
		bad := bytes.Clone(file)
		copy(bad[at:], c.bytes)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := NewReader(bytes.NewReader(bad))
		if err == nil {
			for err == nil {
				_, err = d.Next()
			}
			if d.Cut == nil {
				t.Errorf("%s: got no error", c.name)
			}
			d.Close()
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 50<<20 {
			t.Errorf("%s: allocated %d MB", c.name, got>>20)
		}
	}
}

// TestLargeAttachments: every recording that is written can be read: a mesh of 20 MB, as a config's archive has it, is
// in it; a file that a reader would refuse is named as absent.
func TestLargeAttachments(t *testing.T) {
	large := info
	large.Attached = append(large.Attached[:1:1], File{"arm.stl", make([]byte, 20<<20)},
		File{"huge.stl", make([]byte, 40<<20)})
	var file bytes.Buffer
	w, err := NewWriter(&file, &large)
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	d, err := NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Next(); err != io.EOF || d.Cut != nil {
		t.Errorf("got %v, %v, want a whole file", err, d.Cut)
	}
	if a := d.Info.Attached; len(a) != 2 || a[1].Name != "arm.stl" || len(a[1].Data) != 20<<20 {
		t.Errorf("got %d attachments, want 2", len(a))
	}
	if got := fmt.Sprint(d.Info.Absent); got != "[huge.stl]" {
		t.Errorf("absent: got %s, want [huge.stl]", got)
	}
}

// weighed is a context that notes how much is held at every eighth message.
type weighed struct {
	context.Context
	calls int
	most  uint64
}

func (c *weighed) Err() error {
	if c.calls++; c.calls%8 != 0 {
		return nil
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	c.most = max(c.most, m.HeapInuse)
	return nil
}

// TestHostileCycles: 100 KB of a file, compressed, cannot make a reader hold gigabytes.
func TestHostileCycles(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	for name, messages := range map[string]func(i int, put func(topic, text string)){
		"states of a cycle": func(i int, put func(topic, text string)) {
			put(fmt.Sprintf("/%d/state", i), `{"guard":"x","a":"`+long[:3<<20]+`"}`)
		},
		"states of many cycles": func(i int, put func(topic, text string)) {
			put(fmt.Sprintf("/%d/state", i), `{"guard":"x","a":"`+long[:3<<20]+`"}`)
			put(cycleTopic, `{"number":1}`)
		},
		"names": func(i int, put func(topic, text string)) {
			put("/a/state", fmt.Sprintf(`{"measured":{"%d%s":1}}`, i, long[:3<<20]))
			put(cycleTopic, `{"number":1}`)
		},
		"topics": func(i int, put func(topic, text string)) { put(fmt.Sprintf("/%d%s/state", i, long), "{}") },
	} {
		var file bytes.Buffer
		w, err := NewWriter(&file, &info)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			messages(i, func(topic, text string) {
				if err := w.Channel(topic, "a", "{}"); err != nil {
					t.Fatal(err)
				}
				w.last(topic, 1, 0, []byte(text))
			})
		}
		d, err := NewReader(&file) // its end is cut
		if err == nil {
			c := &weighed{Context: t.Context()}
			if _, err = NewSurvey(c, d); c.most > 150<<20 {
				t.Errorf("%s: holds %d MB, %v", name, c.most>>20, err)
			}
			d.Close()
		}
	}
	text := []byte(`{"ops":[` + strings.Repeat("{},", 5<<20) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := NewPlayback("b", 1).Feed(text)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 200<<20 {
		t.Errorf("uses of a line: allocated %d MB, %v", got>>20, err)
	}
}

// TestLargeMessages: a picture, or the uses of a line in a cycle, that no reader would take are lost and counted; what
// follows can be read.
func TestLargeMessages(t *testing.T) {
	var b bytes.Buffer
	g, taps := rig(t, hal.Lockstep), &Taps{}
	open := taps.Tap("bus", func() (servo.Line, error) { return &line{}, nil })
	r, err := Start(g, taps, &b, info, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r.Picture("arm", "eye", 0, "png", make([]byte, 13<<20))
	r.Picture("arm", "eye", 0, "png", make([]byte, 10<<20))
	l, err := open()
	if err != nil {
		t.Fatal(err)
	}
	for range 600_000 {
		l.Now()
	}
	for range 5 {
		if err := g.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for len(r.pictures) > 0 { // it is not waited for at the end
		runtime.Gosched()
	}
	if got, err := r.Stop(); err != nil || got.Pictures != 1 || got.Ops != 600_001 {
		t.Errorf("got %+v, %v, want a picture and 600001 uses lost", got, err)
	}
	d, err := NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	seen := map[string]int{}
	for m, err := d.Next(); err != io.EOF; m, err = d.Next() {
		if err != nil {
			t.Fatal(err)
		}
		seen[m.Topic]++
	}
	if d.Cut != nil || seen["/arm/eye/compressed"] != 1 || seen[cycleTopic] != 5 || seen["/bus/bus"] != 0 {
		t.Errorf("got %v, cut %v", seen, d.Cut)
	}
}

// slow is a disk that takes nothing until it is told to.
type slow struct {
	open chan struct{}
	bytes.Buffer
}

func (s *slow) Write(p []byte) (int, error) {
	if s.Len() > 2000 {
		<-s.open
	}
	return s.Buffer.Write(p)
}

// TestSlowDisk: in real time the cycle drops and counts, and loses no order.
func TestSlowDisk(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	clock := &stopped{left: 3000, end: end}
	r, err := hal.New(hal.Config{Name: "test", Mode: hal.Realtime, Period: 10 * time.Millisecond, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	b := haltest.NewBody("elbow")
	a, err := r.Add(hal.AgentConfig{Name: "arm", Body: b, World: b})
	if err != nil {
		t.Fatal(err)
	}
	clock.each = a.Renew
	out := &slow{open: make(chan struct{})}
	rec, err := Start(r, nil, out, info, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r.Run(ctx)
	close(out.open)
	stats, err := rec.Stop()
	if err != nil || stats.Dropped == 0 || stats.Cycles+stats.Dropped != 3000 || stats.Orders != 0 {
		t.Fatalf("got %+v, %v, want some dropped, no order lost", stats, err)
	}
	d, err := NewReader(&out.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	kept := 0
	for {
		m, err := d.Next()
		if err != nil {
			break
		}
		if TopicOf(m.Topic) == OrderTopic && strings.Contains(string(m.Data), "renew") {
			kept++
		}
	}
	if kept != 3000 {
		t.Errorf("got %d orders, want 3000", kept)
	}
}

// TestOrdersAreCopied: an order is as it was when it came, though its sender uses the memory again before it is
// written.
func TestOrdersAreCopied(t *testing.T) {
	r := rig(t, hal.Lockstep)
	var out bytes.Buffer
	rec, err := Start(r, nil, &out, info, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	inputs := make([]float64, 1)
	const cycles, each = 300, 20
	a := r.Agents()[0]
	for c := 1; c <= cycles; c++ {
		for k := range each {
			inputs[0] = float64(c)*each + float64(k)
			a.Override(inputs)
		}
		a.Renew()
		r.ReplayCycle(0)
	}
	if stats, err := rec.Stop(); err != nil || stats.Cycles != cycles {
		t.Fatalf("got %+v, %v, want %d cycles", stats, err, cycles)
	}
	d, err := NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := 0
	for {
		m, err := d.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if TopicOf(m.Topic) != OrderTopic {
			continue
		}
		o, err := ParseOrder(m.Data)
		cycle, k := n/(each+1)+1, n%(each+1)
		if n++; err != nil || o.Cycle != uint64(cycle) || (k == each) != (o.Inputs == nil) {
			t.Fatalf("order %d: got %+v, %v", n, o, err)
		}
		if k < each && (len(o.Inputs) != 1 || o.Inputs[0] != float64(cycle*each+k)) {
			t.Fatalf("order %d: got inputs %v, want %d", n, o.Inputs, cycle*each+k)
		}
	}
	if n != cycles*(each+1) {
		t.Errorf("got %d orders, want %d", n, cycles*(each+1))
	}
}

// TestWriterRests: a writer that is up to date takes what comes after its rest, and at once where there is much or the
// recording ends.
func TestWriterRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig(t, hal.Lockstep)
		rec, err := Start(r, nil, io.Discard, info, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		cycles := func(n int) {
			for range n {
				r.ReplayCycle(0)
			}
			synctest.Wait()
		}
		cycles(1)
		cycles(1)
		if n := rec.Stats().Cycles; n != 1 {
			t.Errorf("the second cycle, while it rests: got %d written, want 1", n)
		}
		time.Sleep(restTime)
		synctest.Wait()
		if n := rec.Stats().Cycles; n != 2 {
			t.Errorf("after its rest: got %d written, want 2", n)
		}
		cycles(cap(rec.journal.Records())/2 + 1)
		if n := rec.Stats().Cycles; n != r.LastCycle() {
			t.Errorf("much at once: got %d written, want %d", n, r.LastCycle())
		}
		cycles(1)
		begin := time.Now()
		if stats, err := rec.Stop(); err != nil || stats.Cycles != r.LastCycle() || time.Since(begin) > 0 {
			t.Errorf("the end: got %+v, %v after %v, want %d cycles at once", stats, err, time.Since(begin),
				r.LastCycle())
		}
	})
}

// TestDiskFull: a disk that is full ends the recording, and nothing else.
func TestDiskFull(t *testing.T) {
	r := rig(t, hal.Lockstep)
	rec, err := Start(r, nil, &full{left: 3000}, info, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		r.Agents()[0].Override([]float64{1})
		if err := r.ReplayCycle(0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rec.Stop(); !errors.Is(err, errFull) {
		t.Errorf("got %v, want that the disk is full", err)
	}
}

var errFull = errors.New("no space left on device")

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriteDoesNotAllocate: the text of a cycle is written into used memory.
func TestWriteDoesNotAllocate(t *testing.T) {
	r := rig(t, hal.Lockstep)
	j, f := r.OpenJournal(1), newForm(r.Agents()[0])
	inputs := []float64{0.1, 0.5, 0.2, 0.5}
	r.Agents()[0].Override(inputs)
	r.ReplayCycle(0)
	c := <-j.Records()
	var buf []byte
	if n := testing.AllocsPerRun(200, func() {
		buf = appendOrder(buf[:0], &hal.Order{Kind: hal.OverrideOrder, Agent: "arm", Inputs: inputs})
		buf = f.append(buf[:0], &c.Agents[0], time.Second, true)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// stuck is an output that takes some bytes and then none until the end.
type stuck struct {
	left int
	end  chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		<-s.end
	}
	return len(p), nil
}

// TestStuckOutput: an output that blocks for ever delays a rig in lock-step for seconds, once, its requests not at all,
// and the end of the recording for seconds. What is lost is counted.
func TestStuckOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := rig(t, hal.Lockstep), &stuck{left: 3000, end: make(chan struct{})}
		defer close(out.end)
		rec, err := Start(r, nil, out, info, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for range 5000 {
				r.ReplayCycle(0)
			}
		}()
		synctest.Wait()
		begin, stats := time.Now(), hal.Stats{}
		r.Stats(&stats)
		r.Agents()[0].Renew()
		stops := r.EmergencyStop("test")
		if len(stops) != 2 || stops[0].Err != nil || time.Since(begin) > 0 || stats.Cycles == 5000 {
			t.Errorf("while it waits: got %+v after %v in cycle %d, want an answer at once", stops, time.Since(begin),
				stats.Cycles)
		}
		time.Sleep(10 * time.Second)
		if r.LastCycle() != 5000 {
			t.Errorf("got %d cycles in 10 s, want all", r.LastCycle())
		}
		lost, err := rec.Stop()
		if hal.KindOf(err) != hal.Timeout || lost.Dropped == 0 || lost.Cycles+lost.Dropped > 5000 ||
			time.Since(begin) > 30*time.Second {
			t.Errorf("got %+v, %v, want cycles dropped and a timeout", lost, err)
		}
	})
}

func TestExport(t *testing.T) {
	file, _ := recordRig(t, rig(t, hal.Lockstep), 3)
	d, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dir := t.TempDir()
	if _, err := Export(d, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "arm_state.csv"))
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) != 5 || !strings.HasPrefix(lines[0], "time,") ||
		!strings.HasPrefix(lines[2], "0.02,") || !strings.Contains(lines[0], "measured.elbow.position") {
		t.Errorf("got %q, %v", lines, err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, "bus_upper.csv")); err != nil ||
		!strings.Contains(string(text), "1,write,0,010203,") {
		t.Errorf("got %.300s, %v", text, err)
	}
}

// BenchmarkWrite is the cost of one cycle of an arm in the writer's goroutine.
func BenchmarkWrite(b *testing.B) {
	r := rig(b, hal.Lockstep)
	rec, err := Start(r, nil, io.Discard, info, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r.ReplayCycle(0)
	}
	rec.Stop()
}

func FuzzReader(f *testing.F) {
	file, _ := recordRig(f, rig(f, hal.Lockstep), 2)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("\x89MCAP0\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := NewReader(bytes.NewReader(in))
		if err != nil {
			return
		}
		defer d.Close()
		for range 1000 {
			m, err := d.Next()
			if err != nil {
				return
			}
			flatten(m.Data)
		}
	})
}

func FuzzMessages(f *testing.F) {
	for _, c := range orders {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(`{"cycle":5,"ops":[{"op":"write","data":"0102"},{"op":"read","data":"aa","error":"timeout"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if o, err := ParseOrder(in); err == nil {
			text := appendOrder(nil, &o)
			if again, err := ParseOrder(text); err != nil || string(appendOrder(nil, &again)) != string(text) {
				t.Errorf("%q: read back as %s, %v", in, text, err)
			}
		}
		NewPlayback("b", 1).Feed(in)
		flatten(in)
		ParseCycle(in)
	})
}

// TestTopics: a file of another program is no recording, and its topics are listed, also of one that is cut.
func TestTopics(t *testing.T) {
	var file bytes.Buffer
	w, err := mcap.NewWriter(&file, &mcap.WriterOptions{Chunked: true, Compression: mcap.CompressionLZ4})
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		w.WriteHeader(&mcap.Header{Library: "rosbag2"}),
		w.WriteChannel(&mcap.Channel{ID: 1, Topic: "/odom"}), w.WriteChannel(&mcap.Channel{ID: 2, Topic: "/scan"}),
		w.WriteMessage(&mcap.Message{ChannelID: 2, LogTime: 1e9, Data: make([]byte, 10)}),
		w.WriteMessage(&mcap.Message{ChannelID: 1, LogTime: 2e9, Data: make([]byte, 3)}),
		w.WriteMessage(&mcap.Message{ChannelID: 2, LogTime: 3e9, Data: make([]byte, 20)}), w.Close(),
	} {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if _, err := NewReader(bytes.NewReader(file.Bytes())); err == nil ||
		!strings.Contains(err.Error(), "halyard export") {
		t.Errorf("read as a recording: got %v", err)
	}
	want := []Contents{{"/scan", 2, 30, 1, 3}, {"/odom", 1, 3, 2, 2}}
	got, cut, err := Topics(bytes.NewReader(file.Bytes()))
	if err != nil || cut != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, %v, want %v", got, cut, err, want)
	}
	if _, cut, err := Topics(bytes.NewReader(file.Bytes()[:60])); err != nil || cut == nil {
		t.Errorf("cut file: got %v, %v", cut, err)
	}
}
