package video_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// lamp is a source whose pictures report when they were taken: red goes round with the time, by one step of 20 in 100
// ms; the blue half shows which side is left.
type lamp struct {
	w, h int

	mu      sync.Mutex
	now     time.Duration
	number  uint64
	changed chan struct{}
	viewers int
	taken   int
}

func newLamp(w, h int) *lamp { return &lamp{w: w, h: h, number: 1, changed: make(chan struct{})} }

func (l *lamp) advance(dt time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now += dt
	l.number++
	close(l.changed)
	l.changed = make(chan struct{})
}

func redAt(t time.Duration) byte { return byte(40 + 20*(t/(100*time.Millisecond)%8)) }

func (l *lamp) Watch(int) (hal.ImageStream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.viewers++
	return l, nil
}

func (l *lamp) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.viewers--
}

func (l *lamp) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	for {
		l.mu.Lock()
		changed := l.changed
		if l.number > after {
			p := &hal.Picture{Sequence: l.number, Time: l.now, Width: l.w, Height: l.h}
			for i := range l.w * l.h {
				p.RGB = append(p.RGB, redAt(l.now), 90, byte(180*(i%l.w/(l.w/2))))
			}
			l.taken++
			l.mu.Unlock()
			return p, nil
		}
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// bench is a driver, its camera and the source that it looks at, on one clock.
type bench struct {
	lamp   *lamp
	device *video.Camera
	driver *camera.Camera
	watch  hal.ImageStream
}

const (
	width, height = 32, 16
	period        = 10 * time.Millisecond
)

func newBench(t *testing.T, word string, abi v4l2.ABI, seed int64) *bench {
	t.Helper()
	b := &bench{lamp: newLamp(width, height)}
	var err error
	b.device, err = video.New(video.Config{Name: "lamp", Source: b.lamp, Sizes: [][2]int{{640, 480}, {width, height}},
		Pixels: []v4l2.Pixel{v4l2.MJPG, v4l2.YUYV, v4l2.RGB3, v4l2.GREY}, Seed: seed, ABI: abi, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	b.driver, err = camera.New(camera.Config{Name: "front", Node: b.device.Open, Encoding: word, Width: width,
		Height: height,
		Rate:   50, ABI: abi})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.driver.Open(); err != nil {
		t.Fatal(err)
	}
	if b.watch, err = b.driver.Watch(0); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) close(t *testing.T) {
	t.Helper()
	b.watch.Close()
	if err := b.driver.Close(); err != nil {
		t.Error(err)
	}
	if b.lamp.viewers != 0 {
		t.Errorf("at the end %d still watch the source", b.lamp.viewers)
	}
}

// pass lets one period pass everywhere.
func (b *bench) pass(t *testing.T) {
	t.Helper()
	time.Sleep(period)
	b.lamp.advance(period)
	if err := b.device.Advance(period); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// look asks for a picture newer than after, for d at most.
func (b *bench) look(t *testing.T, after uint64, d time.Duration) (p *hal.Picture, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p, err = b.watch.Next(ctx, after)
	}()
	for range d / period {
		b.pass(t)
		select {
		case <-done:
			return p, err
		default:
		}
	}
	cancel()
	<-done
	return p, err
}

// right returns what is wrong with a picture: its colours, which report when it was taken, and its sides.
func (b *bench) right(p *hal.Picture) error {
	if p.Width != width || p.Height != height || len(p.RGB) != 3*width*height {
		return fmt.Errorf("got %dx%d", p.Width, p.Height)
	}
	for _, x := range []int{2, width - 3} {
		at := p.RGB[3*(5*width+x):]
		want := [3]float64{float64(redAt(p.Time)), 90, 0}
		if x > width/2 {
			want[2] = 180
		}
		for k, v := range want {
			if math.Abs(float64(at[k])-v) > 8 {
				return fmt.Errorf("at %d: got %d, want about %v of %v", x, at[:3], want, p.Time)
			}
		}
	}
	return nil
}

// Every encoding, on 64 and 32 bits: what the source shows is what the viewer sees, at the time of the picture.
func TestEncodings(t *testing.T) {
	for _, word := range []string{"mjpeg", "yuyv", "rgb24"} {
		for _, abi := range []v4l2.ABI{8, 4} {
			t.Run(fmt.Sprint(word, abi), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, word, abi, 1)
					defer b.close(t)
					after := uint64(0)
					for range 50 {
						p, err := b.look(t, after, time.Second)
						if err != nil || p.Sequence <= after {
							t.Fatalf("after %d: got %v, %v", after, p, err)
						}
						if err := b.right(p); err != nil {
							t.Fatal(err)
						}
						after = p.Sequence
						p.Release()
					}
					if s, err := b.driver.State(); err != nil || s.Bad+s.Lost != 0 || s.Opened != 1 {
						t.Errorf("got %+v, %v", s, err)
					}
					if n := b.lamp.taken; n > 60 { // at 50 Hz a picture takes two periods
						t.Errorf("the source made %d pictures for 50", n)
					}
				})
			})
		}
	}
}

// Every fault, always and now and then: it is reported or counted, no picture is wrong, and within a second of its end
// there are pictures again.
func TestFaults(t *testing.T) {
	for _, kind := range []wire.Kind{wire.Unplugged, wire.Denied, wire.Busy, wire.Stuck, wire.Truncated, wire.CRC,
		wire.Garbage,
		wire.Dropped, wire.Foreign, wire.Wrong, wire.Delayed} {
		for _, word := range []string{"mjpeg", "yuyv"} {
			if kind == wire.Garbage && word == "yuyv" {
				continue // noise of the right length is a picture of noise: nothing in it tells
			}
			for _, p := range []float64{0, 0.3} {
				t.Run(fmt.Sprintf("%v/%s/%g", kind, word, p), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := newBench(t, word, v4l2.Native, 3)
						defer b.close(t)
						after, good, reported := uint64(0), 0, 0
						see := func(d time.Duration) bool {
							pic, err := b.look(t, after, d)
							switch {
							case errors.Is(err, context.Canceled):
							case err != nil:
								reported++
								b.pass(t)
							default:
								if err := b.right(pic); err != nil {
									t.Errorf("a wrong picture: %v", err)
								}
								after = pic.Sequence
								good++
								pic.Release()
								return true
							}
							return false
						}
						for range 10 {
							if !see(time.Second) {
								t.Fatal("no picture before the fault")
							}
						}
						b.device.Fault(wire.Fault{Kind: kind, P: p, Delay: 60 * time.Millisecond})
						good = 0
						for range 60 {
							see(50 * time.Millisecond)
						}
						s, lost := b.driver.State()
						counted := s.Bad + s.Lost
						switch kind {
						case wire.Denied, wire.Busy, wire.Wrong:
							// An open stream continues; a new one is refused, with the reason.
							if good == 0 || reported > 0 {
								t.Errorf("the open stream: got %d pictures and %d faults", good, reported)
							}
							if err := b.driver.Probe(); err == nil {
								t.Error("a new stream was accepted")
							}
						case wire.Delayed:
							if good == 0 || reported > 0 || counted > 0 {
								t.Errorf("got %d pictures, %d faults, %d counted", good, reported, counted)
							}
						case wire.Unplugged, wire.Stuck:
							if good > 1 || reported == 0 || lost == nil {
								t.Errorf("got %d pictures, %d faults and %v", good, reported, lost)
							}
						case wire.Dropped:
							if p > 0 && (good == 0 || counted == 0) {
								t.Errorf("got %d pictures, %d counted", good, counted)
							}
						default:
							if counted == 0 || p == 0 && reported == 0 || p > 0 && good == 0 {
								t.Errorf("got %d pictures, %d faults, %d counted", good, reported, counted)
							}
						}
						b.device.ClearFaults()
						back := false
						for range time.Second / (50 * time.Millisecond) {
							back = back || see(50*time.Millisecond)
						}
						if _, lost := b.driver.State(); !back || lost != nil {
							t.Errorf("a second after the fault: pictures %v, %v", back, lost)
						}
					})
				})
			}
		}
	}
}

// A camera that comes back under another number: its stable name leads to the new one.
func TestReplugged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "mjpeg", v4l2.Native, 1)
		defer b.close(t)
		other, err := video.New(video.Config{Name: "video3", Source: b.lamp, Sizes: [][2]int{{width, height}},
			Pixels: []v4l2.Pixel{v4l2.MJPG}})
		if err != nil {
			t.Fatal(err)
		}
		var moved atomic.Bool
		first := b.device
		d, err := camera.New(camera.Config{Name: "front", Width: width, Height: height, Rate: 30,
			Node: func() (camera.Node, error) {
				if moved.Load() {
					return other.Open()
				}
				return first.Open()
			}})
		if err != nil {
			t.Fatal(err)
		}
		b.watch.Close()
		if err := errors.Join(b.driver.Close(), d.Open()); err != nil {
			t.Fatal(err)
		}
		b.driver = d
		if b.watch, err = d.Watch(0); err != nil {
			t.Fatal(err)
		}
		p, err := b.look(t, 0, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		after := p.Sequence
		b.device.Fault(wire.Fault{Kind: wire.Unplugged})
		if _, err := b.look(t, after, time.Second); hal.KindOf(err) != hal.Absent {
			t.Errorf("unplugged: got %v", err)
		}
		b.device = other
		moved.Store(true)
		for range 2 { // the first may still return the error of the loss
			if p, err = b.look(t, after, 500*time.Millisecond); err == nil {
				break
			}
			time.Sleep(300 * time.Millisecond)
		}
		if err != nil || p.Sequence != after+1 {
			t.Errorf("plugged in again: got %v, %v, want picture %d", p, err, after+1)
		}
	})
}

// A steady device waits for its driver: in virtual time the same happens in the same cycle on every run, a loss and the
// pauses before it is looked for again too.
func TestSteady(t *testing.T) {
	run := func() (reported []string) {
		l := newLamp(width, height)
		device, err := video.New(video.Config{Name: "lamp", Source: l, Sizes: [][2]int{{width, height}},
			Pixels: []v4l2.Pixel{v4l2.YUYV}, Seed: 5, Steady: true})
		if err != nil {
			t.Fatal(err)
		}
		driver, err := camera.New(camera.Config{Name: "front", Node: device.Open, Encoding: "yuyv", Width: width,
			Height: height, Rate: 50, After: device.After})
		if err != nil {
			t.Fatal(err)
		}
		if err := driver.Open(); err != nil {
			t.Fatal(err)
		}
		watch, err := driver.Watch(0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			watch.Close()
			if err := driver.Close(); err != nil {
				t.Error(err)
			}
		}()
		device.WaitSettled()
		look, cancel := context.WithCancel(t.Context())
		cancel() // it does not wait
		after := uint64(0)
		for i := range 300 {
			switch i {
			case 50:
				device.Fault(wire.Fault{Kind: wire.Dropped, P: 0.4})
			case 80:
				device.Fault(wire.Fault{Kind: wire.Delayed, P: 0.5, Delay: 3 * period})
			case 110:
				device.Fault(wire.Fault{Kind: wire.Unplugged})
			case 160:
				device.ClearFaults()
			}
			device.WaitSettled()
			l.advance(period)
			if err := device.Advance(period); err != nil {
				t.Fatal(err)
			}
			p, err := watch.Next(look, after)
			if err == nil {
				reported = append(reported, fmt.Sprint(i, p.Time))
				after = p.Sequence
				p.Release()
			} else if hal.KindOf(err) == hal.Absent {
				reported = append(reported, fmt.Sprint(i, " gone"))
			}
		}
		return reported
	}
	first, second := run(), run()
	if !slices.Equal(first, second) {
		t.Errorf("got %v, then %v", first, second)
	}
	gone := func(s string) bool { return strings.HasSuffix(s, " gone") }
	last := slices.IndexFunc(first, gone)
	for last < len(first) && gone(first[last]) {
		last++
	}
	// Five times a second it is looked for, and its first frame takes a period.
	if at := 0; last == len(first) || len(first)-last < 50 {
		t.Errorf("after the loss: got %v", first[max(0, last-3):])
	} else if _, err := fmt.Sscan(first[last], &at); err != nil || at < 160 || at > 183 {
		t.Errorf("back in cycle %d, %v; want 160..183", at, err)
	}
}

// Without viewers the device is closed and the source makes no pictures; a stopped clock is not a fault.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "mjpeg", v4l2.Native, 1)
		defer b.close(t)
		p, err := b.look(t, 0, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		after := p.Sequence
		p.Release()
		time.Sleep(time.Hour) // a lock-step client that thinks
		if _, lost := b.driver.State(); lost != nil {
			t.Errorf("time stood still: got %v", lost)
		}
		b.watch.Close()
		time.Sleep(time.Second)
		opened, frames, taken := b.device.Opened(), b.device.Frames(), b.lamp.taken
		for range 100 {
			b.pass(t)
		}
		if n := testing.AllocsPerRun(100, func() { _ = b.device.Advance(0) }); n != 0 {
			t.Errorf("a cycle without viewers: got %g allocations, want 0", n)
		}
		if b.device.Opened() != opened || b.device.Frames() != frames || b.lamp.taken != taken || b.lamp.viewers != 0 {
			t.Errorf("no viewers: opened %d times, %d frames, %d pictures", b.device.Opened()-opened,
				b.device.Frames()-frames, b.lamp.taken-taken)
		}
		if b.watch, err = b.driver.Watch(0); err != nil {
			t.Fatal(err)
		}
		if p, err := b.look(t, after, time.Second); err != nil || b.right(p) != nil {
			t.Errorf("watched again: got %v", err)
		}
	})
}

// A camera is lost and comes back while no viewer waits: the next calls of Next report the loss at most once more.
func TestLostUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "yuyv", v4l2.Native, 1)
		defer b.close(t)
		p, err := b.look(t, 0, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		b.device.Fault(wire.Fault{Kind: wire.Unplugged, For: 500 * time.Millisecond})
		for range 100 {
			b.pass(t)
		}
		if _, err := b.look(t, p.Sequence, time.Second); hal.KindOf(err) != hal.Absent && err != nil {
			t.Errorf("the loss: got %v", err)
		}
		for range 10 {
			b.pass(t)
		}
		if p, err = b.look(t, p.Sequence, time.Second); err != nil || b.right(p) != nil {
			t.Errorf("after it: got %v", err)
		}
	})
}

// What the device refuses, as the kernel does.
func TestRefuses(t *testing.T) {
	l := newLamp(width, height)
	if _, err := video.New(video.Config{Source: l}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no size: got %v", err)
	}
	d, err := video.New(video.Config{Source: l, Sizes: [][2]int{{width, height}}, Pixels: []v4l2.Pixel{v4l2.GREY}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	do := func(op v4l2.Op, x v4l2.Argument) error {
		return n.Ioctl(v4l2.Native.Number(op), v4l2.Native.Append(nil, x))
	}
	buffer := &v4l2.Buffer{Kind: v4l2.Capture, Memory: v4l2.MappedMem}
	for name, err := range map[string]error{
		"no such ioctl":         n.Ioctl(0xC0001234, nil),
		"output formats":        do(v4l2.EnumFmt, &v4l2.FormatInfo{Kind: 2}),
		"sizes of no format":    do(v4l2.EnumSizes, &v4l2.FrameSize{Pixel: v4l2.MJPG}),
		"an output's format":    do(v4l2.SetFmt, &v4l2.Format{Kind: 2}),
		"an output's rate":      do(v4l2.SetParm, &v4l2.Rate{Kind: 2}),
		"memory of the user's":  do(v4l2.ReqBufs, &v4l2.Buffers{Count: 1, Kind: v4l2.Capture, Memory: 2}),
		"on without buffers":    do(v4l2.StreamOn, &v4l2.Number{Value: v4l2.Capture}),
		"a buffer out of range": do(v4l2.QueueBuf, buffer),
		"a frame while off":     do(v4l2.DequeueBuf, buffer),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if _, err := n.Map(1, 5); err == nil {
		t.Error("mapped a buffer out of range")
	}
	if err := errors.Join(do(v4l2.GetFmt, &v4l2.Format{Kind: v4l2.Capture}), n.Close()); err != nil {
		t.Error(err)
	}
	if err := do(v4l2.QueryCap, &v4l2.Capability{}); err == nil {
		t.Error("a closed node answered")
	}
}
