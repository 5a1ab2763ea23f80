package camera

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

// Config selects a camera and its settings.
type Config struct {
	Name          string  // for errors: the camera's name in the layout
	Port          string  // its path, for errors; "" = none
	Node          Opener  // opens the device, and opens it again; Reopener for the kernel's
	Encoding      string  // the word of one of Encodings; "" = mjpeg
	Width, Height int     // pixels, 1..MaxSide; an unsupported size is refused
	Rate          float64 // frames a second, 0.1..1000; the camera selects the nearest supported one
	// Now is the rig's time, for the pictures' time stamps; nil = the time of the node's clock. It is called from the
	// camera's goroutine.
	Now func() time.Duration
	// After makes the pause between two attempts to open a lost camera; nil = time.After. A camera in virtual time has
	// its own.
	After func(d time.Duration) <-chan time.Time
	ABI   v4l2.ABI // 0 = Native
}

const (
	// retryEvery is the pause between two attempts to open a lost camera.
	retryEvery = 200 * time.Millisecond
	// slice is the longest single wait of the goroutine, wall time: the delay until it notices that the last viewer
	// left.
	slice = 50 * time.Millisecond
	// firstFrame is the timeout of the first frame; silence, added to three periods, that of every later one.
	firstFrame = 5 * time.Second
	silence    = 500 * time.Millisecond
	// tolerated is the number of bad frames in a row that are not reported; hopeless is the number that reopens the
	// camera.
	tolerated = 3
	hopeless  = 30
	// oldest is the greatest accepted age of a frame.
	oldest = 10 * time.Second
)

// Stats counts the frames and openings of a camera since it was made.
type Stats struct {
	Pictures uint64 // decoded
	Frames   uint64 // received; most have no waiting viewer and are not decoded
	Bad      uint64 // damaged, truncated, or of another format
	Lost     uint64 // captured but not received, by their sequence numbers
	Opened   uint64 // times that the device was opened to stream
}

// Camera is one camera: a hal.CameraSource of one. All methods may be called from any goroutine.
type Camera struct {
	config Config

	stop    chan struct{}
	wake    chan struct{} // has room for one: the viewers have changed
	running sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{} // closed, and made again, when there is a picture, a fault or the end
	viewers  int
	asked    bool // a viewer waits for a newer picture
	closed   bool
	sequence uint64
	newest   *plate
	frame    uint64 // number of the newest received frame; the first viewer counts as one too
	free     []*plate
	lost     error // why there are no pictures; kept until there is one
	refuse   error // the same, for the present viewers
	stats    Stats
}

// New returns a camera. It does no I/O. The error is hal.Invalid.
func New(c Config) (*Camera, error) {
	c.Encoding = cmp.Or(c.Encoding, Encodings()[0].Word)
	c.ABI = cmp.Or(c.ABI, v4l2.Native)
	if c.After == nil {
		c.After = time.After
	}
	known := slices.ContainsFunc(Encodings(), func(e Encoding) bool { return e.Word == c.Encoding })
	switch {
	case !known:
		return nil, c.fault(hal.Invalid, fmt.Errorf("format: got %q, want mjpeg, yuyv, rgb24 or grey", c.Encoding))
	case c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide:
		return nil, c.fault(hal.Invalid, fmt.Errorf("size: got %dx%d, want 1..%d", c.Width, c.Height, maxSide))
	case !(c.Rate >= 0.1 && c.Rate <= 1000):
		return nil, c.fault(hal.Invalid, fmt.Errorf("rate: got %g, want 0.1..1000 Hz", c.Rate))
	}
	return &Camera{config: c, stop: make(chan struct{}), wake: make(chan struct{}, 1), changed: make(chan struct{})},
		nil
}

// Probe opens the device, sets the config's format, size and rate, and closes it. It captures nothing.
func (c *Camera) Probe() error {
	s, err := openStream(&c.config)
	if err != nil {
		return err
	}
	return s.close()
}

// Open checks that the camera exists and supports the config, and begins to serve viewers. After an error nothing runs.
func (c *Camera) Open() error {
	if err := c.Probe(); err != nil {
		return err
	}
	c.running.Go(c.run)
	return nil
}

// Close ends all watches and waits for the goroutine, which closes the device. Held pictures stay valid.
func (c *Camera) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stop)
		c.notify()
	}
	c.mu.Unlock()
	c.running.Wait()
	return nil
}

// State returns the counters and the reason for missing pictures. The error is nil while there are pictures, and
// without viewers if the last capture worked.
func (c *Camera) State() (Stats, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats, c.lost
}

// notify wakes all waiting viewers. Under the lock.
func (c *Camera) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// run is the goroutine: it captures while there are viewers.
func (c *Camera) run() {
	var pause <-chan time.Time // nil: no pause
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		}
		for c.watched() {
			// New viewers do not shorten the pause after the loss of a camera.
			if pause != nil {
				select {
				case <-c.stop:
					return
				case <-pause:
				}
			}
			pause = nil
			if err := c.capture(); err != nil {
				c.fail(err)
				pause = c.config.After(retryEvery)
			}
		}
	}
}

func (c *Camera) watched() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewers > 0 && !c.closed
}

// fail stores the reason for missing pictures, and wakes all waiting viewers.
func (c *Camera) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost, c.refuse = err, err
	c.notify()
}

// capture opens the camera and decodes frames until the last viewer leaves or an error occurs.
func (c *Camera) capture() (err error) {
	s, err := openStream(&c.config)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.close(); err == nil {
			err = e
		}
	}()
	d, err := NewDecoder(s.shape)
	if err != nil {
		return s.fault(hal.Invalid, err)
	}
	if err := s.start(); err != nil {
		return err
	}
	c.mu.Lock()
	c.stats.Opened++
	c.mu.Unlock()
	received, timeout, bad := s.node.Now(), firstFrame, 0
	for c.watched() {
		lost := s.lost
		b, ok, err := s.next(slice)
		if err != nil {
			return err
		}
		if !ok {
			if quiet := s.node.Now() - received; quiet > timeout {
				return s.fault(hal.Timeout, fmt.Errorf("no frame for %v", quiet))
			}
			continue
		}
		received, timeout = s.node.Now(), silence+3*s.period
		err = c.publishFrame(s, d, &b, s.lost-lost)
		if e := s.give(b.Index); e != nil {
			return e
		}
		if bad++; err == nil {
			bad = 0
		} else if bad >= tolerated {
			err = s.fault(hal.BusFault, fmt.Errorf("%d bad frames in a row: %w", bad, err))
			if c.fail(err); bad >= hopeless {
				return err
			}
		}
	}
	return nil
}

// publishFrame decodes a frame to a picture if a viewer waits for one. The error reports why the frame is invalid.
func (c *Camera) publishFrame(s *stream, d *decoder, b *v4l2.Buffer, lost uint64) error {
	c.mu.Lock()
	c.stats.Frames++
	c.stats.Lost += lost
	c.frame++
	number, wanted := c.frame, c.asked
	var p *plate
	if wanted {
		p = c.plate()
	}
	c.mu.Unlock()
	frame, err := s.frame(b)
	if err == nil && wanted {
		err = d.Decode(p.RGB, frame)
	}
	at := c.time(s, b)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		c.stats.Bad++
		if wanted {
			c.drop(p)
		}
	case wanted:
		c.stats.Pictures++
		c.publish(p, number, at)
	}
	return err
}

// time is the rig's time at which a frame was taken; the frame's age is measured by the node's clock.
func (c *Camera) time(s *stream, b *v4l2.Buffer) time.Duration {
	now, age := s.node.Now(), time.Duration(0)
	if b.Flags&v4l2.StampMask == v4l2.Monotonic {
		if a := now - b.Time(); a > 0 && a < oldest {
			age = a
		}
	}
	if c.config.Now != nil {
		now = c.config.Now()
	}
	return max(0, now-age)
}
