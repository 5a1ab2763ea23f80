package topics

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	// sampleInterval is how often topics are published, but for those below.
	sampleInterval = 20 * time.Millisecond
	imageInterval  = 100 * time.Millisecond
	slowInterval   = time.Second // diagnostics
	// MaxSubscriptions and MaxQueue bound the subscriptions of one client and the samples that wait for one.
	MaxSubscriptions = 64
	MaxQueue         = 64
	// maxAnswers bounds the answers that wait for a client, bytes.
	maxAnswers  = 4 << 20
	jpegQuality = 75
)

// ErrDeaf ends the session of a client that leaves too many answers unread.
var ErrDeaf = errors.New("topics: the client does not read its answers")

// Settings are a client's settings of a topic: at most one message per Every, with up to Queue samples queued until
// then; 0 = only the newest, at once.
type Settings struct {
	Every time.Duration
	Queue int
}

// Picture is a camera's picture, encoded. Format is jpeg, or png with the depth of each pixel, mm, 16 bits, 0 =
// unknown.
type Picture struct {
	Time   time.Duration
	Format string
	Data   []byte
}

// Delivery is the next message to a client: an answer or, of the subscription Key, a sample or a picture.
type Delivery[K comparable] struct {
	Answer  any
	Key     K
	Topic   *Topic
	Sample  *Sample
	Picture *Picture
}

// Feed is the messages to one client. Only one goroutine may call Next; the other methods may be called from any.
type Feed[K comparable] struct {
	Commander
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
	wake    chan struct{}
	due     atomic.Bool
	cycles  uint64 // Cycle's

	mu      sync.Mutex
	answers []queued
	size    int // of answers, bytes
	subs    []*subscription[K]
	next    int // whose turn it is
	streams map[int]*stream
}

// queued is an answer and its size, bytes.
type queued struct {
	answer any
	size   int
}

type subscription[K comparable] struct {
	key      K
	topic    *Topic
	settings Settings
	interval time.Duration
	queue    []*Sample
	taken    time.Time // its newest sample
	reading  time.Duration
	sent     time.Time
	newest   uint64 // picture sent
}

// stream is a camera that is watched for one client, as long as it has subscriptions.
type stream struct {
	cancel  context.CancelFunc
	picture *Picture
	number  uint64
	more    chan struct{} // the last picture has been taken
}

// NewFeed begins a client's session. name is the client in messages of the rig, "rosbridge@127.0.0.1:5000"; blocked,
// how long the client has left a write waiting. Close ends it.
func NewFeed[K comparable](r *Robot, name string, blocked func() time.Duration) *Feed[K] {
	ctx, cancel := context.WithCancel(context.Background())
	f := &Feed[K]{Commander: Commander{robot: r, name: name, blocked: blocked, deadline: Deadline,
		wake: make(chan struct{}, 1)},
		ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), streams: map[int]*stream{}}
	f.session = r.Rig.NewSession(name, f)
	f.running.Go(func() {
		defer r.Rig.Contain("topics feed")
		f.run(ctx)
	})
	return f
}

// Run runs write in a goroutine of its own, named what in a fault, and read; either ends the other. It returns read's
// error after both have ended and f is closed.
func (f *Feed[K]) Run(ctx context.Context, rig *hal.Rig, what string, write func(context.Context),
	read func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer f.Close() // its body holds still
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel()
	writing.Go(func() {
		defer rig.Contain(what)
		defer cancel()
		write(ctx)
	})
	return read(ctx)
}

// Close ends the session; its body holds still.
func (f *Feed[K]) Close() {
	f.cancel()
	f.running.Wait()
	f.session.Close()
}

// Cycle is the rig's call after each cycle: it counts until samples are due.
func (f *Feed[K]) Cycle(*hal.Cycle) {
	if f.cycles++; time.Duration(f.cycles)*f.robot.Rig.Period() >= sampleInterval {
		f.cycles = 0
		f.due.Store(true)
		rouse(f.wake)
	}
}

// Answer queues an answer of so many bytes. It fails with ErrDeaf where the client lets too many wait.
func (f *Feed[K]) Answer(answer any, size int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size+size > maxAnswers {
		return ErrDeaf
	}
	f.answers, f.size = append(f.answers, queued{answer, size}), f.size+size
	rouse(f.wake)
	return nil
}

// Subscribe begins or changes a subscription. It reports false where the client has too many.
func (f *Feed[K]) Subscribe(key K, t *Topic, s Settings) bool {
	s.Queue = max(0, min(s.Queue, MaxQueue))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, sub := range f.subs {
		if sub.key == key {
			sub.settings = s
			return true
		}
	}
	if len(f.subs) >= MaxSubscriptions {
		return false
	}
	interval := time.Duration(0)
	switch t.Kind {
	case Diagnostics:
		interval = slowInterval
	case Image:
		interval = imageInterval
		if f.streams[t.At] == nil {
			f.watch(t.At)
		}
	}
	f.subs = append(f.subs, &subscription[K]{key: key, topic: t, settings: s, interval: interval,
		reading: -1})
	f.due.Store(true) // send its first message at once
	rouse(f.wake)
	return true
}

// Unsubscribe ends a subscription; it reports whether there was one.
func (f *Feed[K]) Unsubscribe(key K) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.subs)
	f.subs = slices.DeleteFunc(f.subs, func(sub *subscription[K]) bool { return sub.key == key })
	for at, s := range f.streams {
		shows := func(sub *subscription[K]) bool { return sub.topic.Kind == Image && sub.topic.At == at }
		if !slices.ContainsFunc(f.subs, shows) {
			s.cancel()
			delete(f.streams, at)
		}
	}
	return len(f.subs) < before
}

// Next waits for the next message to the client. The error is ctx's.
func (f *Feed[K]) Next(ctx context.Context) (Delivery[K], error) {
	for {
		var now *Sample
		if f.due.Swap(false) {
			now = f.robot.Sample()
		}
		f.mu.Lock()
		d, ok, wait := f.take(now, time.Now())
		f.mu.Unlock()
		if ok {
			return d, ctx.Err()
		}
		timer := time.NewTimer(wait)
		select {
		case <-f.wake:
		case <-timer.C: // a sample that waited for its time
		case <-ctx.Done():
			timer.Stop()
			return d, ctx.Err()
		}
		timer.Stop()
	}
}

// take queues now, if not nil, and returns the next delivery; without one, wait is the time until there may be one.
// Under mu.
func (f *Feed[K]) take(now *Sample, at time.Time) (d Delivery[K], ok bool, wait time.Duration) {
	for _, sub := range f.subs {
		if now == nil || sub.topic.Kind == Image || at.Sub(sub.taken) < sub.interval {
			continue
		}
		if sub.settings.Queue == 0 && at.Sub(sub.sent) < sub.settings.Every {
			continue // a sample before its interval is skipped
		}
		reading := now.Acquired(sub.topic)
		if reading < 0 || reading == sub.reading || !f.robot.labelled() {
			continue // each reading once
		}
		sub.taken, sub.reading = at, reading
		if len(sub.queue) >= max(1, sub.settings.Queue) {
			sub.queue = append(sub.queue[:0], sub.queue[1:]...) // the oldest makes room
		}
		sub.queue = append(sub.queue, now)
	}
	if len(f.answers) > 0 {
		d.Answer, f.size = f.answers[0].answer, f.size-f.answers[0].size
		f.answers[0] = queued{} // its memory is not kept
		if f.answers = f.answers[1:]; len(f.answers) == 0 {
			f.answers = nil
		}
		return d, true, 0
	}
	wait = time.Hour
	for range f.subs {
		f.next = (f.next + 1) % len(f.subs)
		sub := f.subs[f.next]
		d = Delivery[K]{Key: sub.key, Topic: sub.topic}
		s := f.streams[sub.topic.At]
		fresh := sub.topic.Kind == Image && s != nil && s.picture != nil && s.number > sub.newest
		if len(sub.queue) == 0 && !fresh {
			continue
		}
		if early := sub.sent.Add(sub.settings.Every).Sub(at); early > 0 {
			wait = min(wait, early)
			continue
		}
		sub.sent = at
		if fresh {
			d.Picture, sub.newest = s.picture, s.number
			rouse(s.more)
			return d, true, 0
		}
		d.Sample = sub.queue[0]
		sub.queue = append(sub.queue[:0], sub.queue[1:]...)
		return d, true, 0
	}
	return d, false, wait
}

// watch starts the stream of a camera. Under mu.
func (f *Feed[K]) watch(camera int) {
	images, err := f.robot.Cameras.Watch(camera)
	if err != nil {
		return // it has no device: its topic stays silent, as a node's without one
	}
	ctx, cancel := context.WithCancel(f.ctx)
	s := &stream{cancel: cancel, more: make(chan struct{}, 1)}
	f.streams[camera] = s
	f.running.Go(func() {
		defer f.robot.Rig.Contain("topics camera")
		defer images.Close()
		for last := uint64(0); ; {
			p, err := images.Next(ctx, last)
			if err != nil {
				return
			}
			last = p.Sequence
			encoded := Encode(p)
			p.Release()
			if encoded != nil {
				encoded.Time = f.robot.Label(encoded.Time)
				f.mu.Lock()
				s.picture = encoded
				s.number++
				f.mu.Unlock()
				rouse(f.wake)
				select {
				case <-s.more: // encode the next picture only once this one is taken
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-time.After(imageInterval):
			case <-ctx.Done():
				return
			}
		}
	})
}

// Encode is p as jpeg, or of a depth camera as png; nil where it has no pixels.
func Encode(p *hal.Picture) *Picture {
	out := &Picture{Time: p.Time, Format: "jpeg"}
	var b bytes.Buffer
	bounds := image.Rect(0, 0, p.Width, p.Height)
	var err error
	switch {
	case p.RGB != nil && len(p.RGB) >= 3*p.Width*p.Height:
		m := image.NewRGBA(bounds)
		for i := range p.Width * p.Height {
			copy(m.Pix[4*i:], p.RGB[3*i:3*i+3])
			m.Pix[4*i+3] = 255
		}
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: jpegQuality})
	case p.Depth != nil && len(p.Depth) >= p.Width*p.Height:
		m := image.NewGray16(bounds)
		for i := range p.Width * p.Height {
			const mm, most = 1000, math.MaxUint16
			if d := float64(p.Depth[i]) * mm; d > 0 && d <= most {
				m.Pix[2*i], m.Pix[2*i+1] = byte(uint16(d)>>8), byte(uint16(d))
			}
		}
		out.Format = "png"
		err = png.Encode(&b, m)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	out.Data = b.Bytes()
	return out
}
