package camera

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

// kernel is a device that answers as a test says: what no driver of the kernel should, above all. Its clock is the
// bubble's.
type kernel struct {
	caps    v4l2.Capability
	pixels  []v4l2.Pixel
	sizes   []v4l2.FrameSize
	format  func(f *v4l2.Format)
	buffers uint32
	length  uint32
	frames  []v4l2.Buffer // that DQBUF answers with, one a wait; the last one again and again
	fails   map[v4l2.Op]error
	waits   error
	open    error

	start  time.Time
	taken  int
	ready  bool
	memory [8][64]byte
	opened int
	closed int
	log    []v4l2.Op
}

func newKernel() *kernel {
	return &kernel{caps: v4l2.Capability{Card: "HD", Capabilities: v4l2.CanCapture | v4l2.CanStream},
		pixels:  []v4l2.Pixel{v4l2.GREY, v4l2.MJPG},
		buffers: 4, length: 64,
		sizes: []v4l2.FrameSize{{Kind: v4l2.SizeDiscrete, Sizes: [6]uint32{8, 8}},
			{Kind: v4l2.SizeDiscrete, Sizes: [6]uint32{4, 4}}},
		frames: []v4l2.Buffer{{Used: 16}}, fails: map[v4l2.Op]error{}, format: func(*v4l2.Format) {}, start: time.Now()}
}

func (k *kernel) Now() time.Duration { return time.Since(k.start) }
func (k *kernel) Close() error       { k.closed++; return nil }
func (k *kernel) Unmap([]byte) error { return nil }
func (k *kernel) Map(offset uint32, length int) ([]byte, error) {
	return k.memory[offset/4096][:min(64, length)], nil
}

func (k *kernel) Wait(timeout time.Duration) error {
	// A frame a hundredth of a second.
	time.Sleep(min(timeout, 10*time.Millisecond))
	if k.waits != nil {
		return k.waits
	}
	k.ready = true
	return nil
}

func (k *kernel) Ioctl(number uint32, p []byte) error {
	op, ok := v4l2.Native.Find(number)
	if !ok {
		return syscall.ENOTTY
	}
	k.log = append(k.log, op)
	if err := k.fails[op]; err != nil {
		return err
	}
	x := v4l2.Ops()[op].Argument()
	if err := v4l2.Native.Parse(p, x); err != nil {
		return err
	}
	switch x := x.(type) {
	case *v4l2.Capability:
		*x = k.caps
	case *v4l2.FormatInfo:
		if int(x.Index) >= len(k.pixels) {
			return syscall.EINVAL
		}
		x.Pixel = k.pixels[x.Index]
	case *v4l2.FrameSize:
		if int(x.Index) >= len(k.sizes) {
			return syscall.EINVAL
		}
		i := x.Index
		*x = k.sizes[i]
		x.Index = i
	case *v4l2.Format:
		x.Stride, x.Size = x.Width, x.Width*x.Height
		k.format(x)
	case *v4l2.Buffers:
		x.Count = k.buffers
	case *v4l2.Buffer:
		switch op {
		case v4l2.QueryBuf:
			x.Length, x.Offset = k.length, x.Index*4096
		case v4l2.DequeueBuf:
			if !k.ready {
				return syscall.EAGAIN
			}
			k.ready = false
			*x = k.frames[min(k.taken, len(k.frames)-1)]
			k.taken++
			if x.Sequence == 0 {
				x.Sequence = uint32(k.taken)
			}
		}
	}
	copy(p, v4l2.Native.Append(nil, x))
	return nil
}

func (k *kernel) camera(t *testing.T) *Camera {
	t.Helper()
	c, err := New(Config{Name: "front", Port: "/dev/video0", Encoding: "grey", Width: 4, Height: 4, Rate: 30,
		Node: func() (Node, error) {
			if k.open != nil {
				return nil, k.open
			}
			k.opened++
			return k, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a device is, offers and makes of a format decides whether it is taken; each refusal says what there is.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *kernel)
		kind   hal.Kind
		want   string
	}{
		{"all well", func(*kernel) {}, 0, ""},
		{"lists no sizes", func(k *kernel) { k.sizes = nil }, 0, ""},
		{"sizes in steps", func(k *kernel) {
			k.sizes = []v4l2.FrameSize{{Kind: v4l2.SizeStepwise, Sizes: [6]uint32{2, 64, 2, 4, 64, 4}}}
		}, 0, ""},
		{"knows no rates", func(k *kernel) { k.fails[v4l2.SetParm] = syscall.ENOTTY }, 0, ""},
		{"no video device", func(k *kernel) { k.fails[v4l2.QueryCap] = syscall.ENOTTY }, hal.Invalid,
			"no video device"},
		{"metadata", func(k *kernel) { k.caps.Capabilities = v4l2.CanMeta | v4l2.CanStream }, hal.Invalid, "index0"},
		{"of this node metadata", func(k *kernel) {
			k.caps.Capabilities, k.caps.DeviceCaps = v4l2.HasDeviceCaps|v4l2.CanCapture|v4l2.CanStream, v4l2.CanMeta
		}, hal.Invalid, "index0"},
		{"planes", func(k *kernel) { k.caps.Capabilities = v4l2.CanPlanes | v4l2.CanStream }, hal.Invalid,
			"in planes only"},
		{"no streaming", func(k *kernel) { k.caps.Capabilities = v4l2.CanCapture }, hal.Invalid,
			"want capture and streaming"},
		{"no such format", func(k *kernel) { k.pixels = []v4l2.Pixel{v4l2.MJPG, v4l2.YUYV} }, hal.Invalid,
			"got grey, want a format of the camera: MJPG, YUYV"},
		{"endless formats", func(k *kernel) { k.pixels = make([]v4l2.Pixel, 1000) }, hal.Invalid,
			"a format of the camera"},
		{"no such size", func(k *kernel) { k.sizes = k.sizes[:1] }, hal.Invalid,
			"got 4x4, want a size of the camera in GREY: 8x8"},
		{"no such step", func(k *kernel) {
			k.sizes = []v4l2.FrameSize{{Kind: v4l2.SizeStepwise, Sizes: [6]uint32{1, 64, 2, 4, 64, 4}}}
		}, hal.Invalid, "1x4 to 64x64 in steps of 2x4"},
		{"makes another size", func(k *kernel) { k.format = func(f *v4l2.Format) { f.Width = 8 } }, hal.Invalid,
			"got 8x4 GREY from it"},
		{"makes another format", func(k *kernel) { k.format = func(f *v4l2.Format) { f.Pixel = v4l2.MJPG } },
			hal.Invalid,
			"got 4x4 MJPG from it"},
		{"interlaced", func(k *kernel) { k.format = func(f *v4l2.Format) { f.Field = 4 } }, hal.Invalid, "interlaced"},
		{"rows that are too short", func(k *kernel) { k.format = func(f *v4l2.Format) { f.Stride = 3 } }, hal.Invalid,
			"row: got 3 bytes"},
		{"another program streams", func(k *kernel) { k.fails[v4l2.SetFmt] = syscall.EBUSY }, hal.Busy,
			"another program has it"},
		{"gone", func(k *kernel) { k.fails[v4l2.EnumFmt] = syscall.ENODEV }, hal.Absent, "it is gone"},
		{"broken", func(k *kernel) { k.fails[v4l2.SetParm] = syscall.EIO }, hal.BusFault, "S_PARM: input/output error"},
		{"not there", func(k *kernel) {
			k.open = &hal.Error{Kind: hal.Absent, Err: errors.New("no such device")}
		}, hal.Absent, "no such device"},
	} {
		k := newKernel()
		c.change(k)
		err := k.camera(t).Probe()
		if c.want == "" && err != nil || c.want != "" &&
			(hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if k.closed != k.opened {
			t.Errorf("%s: opened %d times and closed %d", c.name, k.opened, k.closed)
		}
	}
}

// look waits for a picture for two seconds.
func look(w hal.ImageStream, after uint64) (*hal.Picture, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return w.Next(ctx, after)
}

// What comes while it streams: never a picture of what is wrong, and the reason is told.
func TestStream(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *kernel)
		kind   hal.Kind
		want   string
	}{
		{"all well", func(*kernel) {}, 0, ""},
		{"two bad frames", func(k *kernel) {
			k.frames = []v4l2.Buffer{{Used: 3}, {Flags: v4l2.FrameDamaged, Used: 16}, {Used: 16}}
		}, 0, ""},
		{"short frames", func(k *kernel) { k.frames[0].Used = 15 }, hal.BusFault, "got 15 bytes, want 16"},
		{"empty frames", func(k *kernel) { k.frames[0].Used = 0 }, hal.BusFault, "got 0 bytes in a buffer of 64"},
		{"more than the buffer", func(k *kernel) { k.frames[0].Used = 1 << 31 }, hal.BusFault, "in a buffer of 64"},
		{"damaged", func(k *kernel) { k.frames[0].Flags = v4l2.FrameDamaged }, hal.BusFault, "damaged"},
		{"a buffer out of range", func(k *kernel) { k.frames[0].Index = 4 }, hal.BusFault,
			"got buffer 4, want below 4"},
		{"one buffer", func(k *kernel) { k.buffers = 1 }, hal.BusFault, "buffers: got 1"},
		{"a thousand buffers", func(k *kernel) { k.buffers = 1000 }, hal.BusFault, "buffers: got 1000"},
		{"buffers of nothing", func(k *kernel) { k.length = 0 }, hal.BusFault, "got 0 bytes"},
		{"huge buffers", func(k *kernel) { k.length = 1 << 31 }, hal.BusFault, "want 1..67108864"},
		{"will not start", func(k *kernel) { k.fails[v4l2.StreamOn] = syscall.ENOSPC }, hal.BusFault, "STREAMON"},
		{"pulled out", func(k *kernel) { k.fails[v4l2.DequeueBuf] = syscall.ENODEV }, hal.Absent, "it is gone"},
		{"poll says so", func(k *kernel) { k.waits = syscall.ENODEV }, hal.Absent, "it is gone"},
		{"silent", func(k *kernel) { k.waits = os.ErrDeadlineExceeded }, hal.Timeout, "no frame for 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKernel()
				c.change(k)
				cam := k.camera(t)
				if err := cam.Open(); err != nil {
					t.Fatal(err)
				}
				w, err := cam.Watch(0)
				if err != nil {
					t.Fatal(err)
				}
				if c.kind == hal.Timeout {
					time.Sleep(firstFrame + time.Second)
				}
				p, err := look(w, 0)
				switch {
				case c.want != "" && (p != nil || hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want)):
					t.Errorf("got %v, %v, want %q", p, err, c.want)
				case c.want == "" && (err != nil || p.Sequence != 1 || p.Width != 4 || len(p.RGB) != 48):
					t.Errorf("got %v, %v", p, err)
				}
				if _, lost := cam.State(); (lost != nil) != (c.want != "") {
					t.Errorf("state: got %v", lost)
				}
				p.Release()
				w.Close()
				if err := cam.Close(); err != nil {
					t.Error(err)
				}
				if k.opened != k.closed {
					t.Errorf("opened %d times and closed %d", k.opened, k.closed)
				}
			})
		})
	}
}

// Without viewers nothing is captured. Frames without a waiting viewer are not decoded. Pictures held by slow viewers
// stay unchanged.
func TestViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel()
		c := k.camera(t)
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if k.opened != 1 || k.closed != 1 {
			t.Fatalf("no viewers: opened %d times, closed %d", k.opened, k.closed)
		}
		a, _ := c.Watch(0)
		b, _ := c.Watch(0)
		p, err := look(a, 0)
		if err != nil {
			t.Fatal(err)
		}
		// The other viewer gets the same picture, until a newer frame has come.
		q, err := look(b, 0)
		if err != nil || q != p {
			t.Errorf("the other viewer: got %v, %v", q, err)
		}
		time.Sleep(time.Second)
		if s, _ := c.State(); s.Pictures != 1 || s.Frames < 50 || s.Bad+s.Lost != 0 || s.Opened != 1 {
			t.Errorf("a second without a call of Next: got %+v", s)
		}
		first := p.RGB
		r, err := look(a, 0)
		if err != nil || r.Sequence != 2 || &r.RGB[0] == &first[0] {
			t.Errorf("after a second: got %v, %v, want a new picture in other memory", r, err)
		}
		if age := k.Now() - r.Time; age < 0 || age > 20*time.Millisecond {
			t.Errorf("time: %v ago", age)
		}
		p.Release()
		q.Release()
		r.Release()
		a.Close()
		a.Close()
		if _, err := look(a, 0); hal.KindOf(err) != hal.Absent {
			t.Errorf("a closed watch: got %v", err)
		}
		b.Close()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if k.closed != 2 {
			t.Errorf("no viewers left: closed %d times, want 2", k.closed)
		}
		if _, err := c.Watch(1); hal.KindOf(err) != hal.Invalid {
			t.Errorf("another camera: got %v", err)
		}
		// Close returns an error to a waiting viewer.
		k.waits = os.ErrDeadlineExceeded
		w, _ := c.Watch(0)
		told := make(chan error)
		go func() { _, err := look(w, 0); told <- err }()
		synctest.Wait()
		c.Close()
		if err := <-told; hal.KindOf(err) != hal.Absent {
			t.Errorf("closed: got %v", err)
		}
		if _, err := c.Watch(0); err == nil {
			t.Error("a closed camera was watched")
		}
	})
}

// The newest frame is the one that counts; numbers that are missing are counted, and the capture's time is the
// picture's.
func TestNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel()
		k.start = time.Now().Add(-time.Hour)
		stamped := v4l2.Buffer{Used: 16, Sequence: 10, Flags: v4l2.Monotonic}
		stamped.SetTime(k.Now() - 30*time.Millisecond)
		k.frames = []v4l2.Buffer{{Used: 16, Sequence: 5}, stamped}
		c := k.camera(t)
		c.config.Now = func() time.Duration { return 100 * time.Second }
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		w, _ := c.Watch(0)
		p, err := look(w, 1)
		if err != nil || p.Sequence != 2 {
			t.Fatalf("got %v, %v", p, err)
		}
		if s, _ := c.State(); s.Lost != 4 {
			t.Errorf("lost: got %d, want 4", s.Lost)
		}
		if age := 100*time.Second - p.Time; age < 30*time.Millisecond || age > 100*time.Millisecond {
			t.Errorf("age: got %v, want what the stamp says", age)
		}
		p.Release()
		w.Close()
		c.Close()
	})
}

// A camera whose next frame is there before the picture of the last one was handed over delivers what it decodes.
func TestSlowDecoding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel()
		c := k.camera(t)
		w, err := c.Watch(0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		d, err := NewDecoder(Shape{Pixel: v4l2.GREY, Width: 4, Height: 4, Stride: 4})
		if err != nil {
			t.Fatal(err)
		}
		s := &stream{config: &c.config, node: k, memory: [][]byte{k.memory[0][:]}}
		frame := func() {
			if err := c.publishFrame(s, d, &v4l2.Buffer{Used: 16}, 0); err != nil {
				t.Error(err)
			}
		}
		got := make(chan uint64)
		go func() {
			p, err := w.Next(t.Context(), 0)
			if err != nil {
				t.Error(err)
				close(got)
				return
			}
			got <- p.Sequence
		}()
		synctest.Wait() // the viewer waits
		frame()
		frame() // before the viewer runs again
		if n := <-got; n != 1 {
			t.Errorf("got picture %d, want the one that was decoded", n)
		}
		if _, err := w.Next(done(t), 0); err == nil {
			t.Error("a picture from before the newest frame was taken for it")
		}
	})
}

// done is a context that is done.
func done(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []Config{
		{Encoding: "h264", Width: 4, Height: 4, Rate: 30}, {Width: 0, Height: 4, Rate: 30},
		{Width: 4, Height: maxSide + 1, Rate: 30},
		{Width: 4, Height: 4}, {Width: 4, Height: 4, Rate: 1e9},
	} {
		if _, err := New(c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}
