package camera

import (
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Config reports which camera it is, and how it is used.
type Config struct {
	Name          string  // for errors: the camera's name in the layout
	Port          string  // its path, for errors; "" = it has none
	Node          Opener  // opens the device, and opens it again; Reopener for the kernel's
	Encoding      string  // the word of one of Encodings; "" = mjpeg
	Width, Height int     // pixels, 1..MaxSide; what the camera cannot do is refused
	Rate          float64 // frames a second, 0.1..1000; the camera takes the nearest that it can
	// Now is the rig's time, which pictures carry; nil = the time of the node's clock. It is called from the camera's
	// goroutine.
	Now func() time.Duration
	// After is what the pause between two attempts to open a lost camera is waited for by; nil = time.After. A camera in
	// virtual time has its own.
	After func(d time.Duration) <-chan time.Time
	ABI   ABI // 0 = Native
}

const (
	// retryEvery is the pause between two attempts to open a lost camera.
	retryEvery = 200 * time.Millisecond
	// slice is how long the goroutine waits at a time, of the wall's: how late it may see that nobody watches any more.
	slice = 50 * time.Millisecond
	// firstFrame is how long a camera may take for its first frame, and silence, on top of three periods, for another.
	firstFrame = 5 * time.Second
	silence    = 500 * time.Millisecond
	// tolerated is how many bad frames in a row are passed over in silence; as many as hopeless reopen the camera.
	tolerated = 3
	hopeless  = 30
	// oldest bounds what is believed of a frame's age.
	oldest = 10 * time.Second
)

// Stats counts what a camera did since it was made.
type Stats struct {
	Pictures uint64 // that were decoded
	Frames   uint64 // that came; most nobody waits for
	Bad      uint64 // that were damaged, cut off, or of another format
	Lost     uint64 // that were made and never came, by their numbers
	Opened   uint64 // times that it was opened to stream
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
	frame    uint64 // number of the newest frame that came; watching again counts as one
	free     []*plate
	lost     error // why there are no pictures; it stands until there are
	refuse   error // the same, as those who watch now are told
	stats    Stats
}

// New returns a camera. It does no I/O. The error is hal.Invalid.
func New(c Config) (*Camera, error) {
	if c.Encoding == "" {
		c.Encoding = Encodings()[0].Word
	}
	if c.ABI == 0 {
		c.ABI = Native
	}
	if c.After == nil {
		c.After = time.After
	}
	known := false
	for _, e := range Encodings() {
		known = known || e.Word == c.Encoding
	}
	switch {
	case !known:
		return nil, c.fault(hal.Invalid, fmt.Errorf("format: got %q, want mjpeg, yuyv, rgb24 or grey", c.Encoding))
	case c.Width < 1 || c.Height < 1 || c.Width > MaxSide || c.Height > MaxSide:
		return nil, c.fault(hal.Invalid, fmt.Errorf("size: got %dx%d, want 1..%d", c.Width, c.Height, MaxSide))
	case !(c.Rate >= 0.1 && c.Rate <= 1000):
		return nil, c.fault(hal.Invalid, fmt.Errorf("rate: got %g, want 0.1..1000 Hz", c.Rate))
	}
	return &Camera{config: c, stop: make(chan struct{}), wake: make(chan struct{}, 1), changed: make(chan struct{})}, nil
}

// Probe opens the device, agrees with it on what the config asks for, and closes it. It captures nothing.
func (c *Camera) Probe() error {
	s, err := openStream(&c.config)
	if err != nil {
		return err
	}
	return s.close()
}

// Open looks whether the camera is there and offers what the config asks for, and begins to serve viewers. Where it does
// not, the error says so and nothing runs.
func (c *Camera) Open() error {
	if err := c.Probe(); err != nil {
		return err
	}
	c.running.Go(c.run)
	return nil
}

// Close ends all watches and waits for the goroutine, which gives the device back. Pictures that are held stay good.
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

// State is what the camera did and why it has no pictures now; nil: it has, or nobody watches and it had.
func (c *Camera) State() (Stats, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats, c.lost
}

// notify wakes all who wait. Under the lock.
func (c *Camera) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// run is the goroutine: it captures while somebody watches.
func (c *Camera) run() {
	var pause <-chan time.Time // nil: there is none
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		}
		for c.watched() {
			// A camera that is lost is not asked more often for it by many viewers who come and go.
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

// fail notes why there are no pictures, and tells all who wait.
func (c *Camera) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost, c.refuse = err, err
	c.notify()
}

// capture opens the camera and decodes frames until nobody watches any more or something breaks.
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
	heard, timeout, bad := s.node.Now(), firstFrame, 0
	for c.watched() {
		lost := s.lost
		b, ok, err := s.next(slice)
		if err != nil {
			return err
		}
		if !ok {
			if quiet := s.node.Now() - heard; quiet > timeout {
				return s.fault(hal.Timeout, fmt.Errorf("no frame for %v", quiet))
			}
			continue
		}
		heard, timeout = s.node.Now(), silence+3*s.period
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

// publishFrame makes a picture of a frame, if somebody waits for one. The error reports why the frame is none.
func (c *Camera) publishFrame(s *stream, d *Decoder, b *Buffer, lost uint64) error {
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

// time is the rig's time at which a frame was taken: as long ago as the node's clock says.
func (c *Camera) time(s *stream, b *Buffer) time.Duration {
	now, age := s.node.Now(), time.Duration(0)
	if b.Flags&StampMask == Monotonic {
		if a := now - b.Time(); a > 0 && a < oldest {
			age = a
		}
	}
	if c.config.Now != nil {
		now = c.config.Now()
	}
	return max(0, now-age)
}
