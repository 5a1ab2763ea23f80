package dashboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
)

const (
	maxMessage    = 4096 // bytes, of a tab
	frameInterval = 16 * time.Millisecond
	// A tab that sends more than messageRate a second for long is no page of ours.
	messageRate  = 200
	messageBurst = 400
	maxTexts     = 16 // that wait for a tab
	writeTimeout = 5 * time.Second
)

var errFlood = errors.New("got too many messages")

// request is a message of a tab.
type request struct {
	Op    string  `json:"op"`
	Rig   int     `json:"rig"`
	Agent string  `json:"agent"`
	Joint string  `json:"joint"`
	Share float64 `json:"share"`
	At    float64 `json:"at"` // ms of the tab's own clock; 0 = not sent

	// Of a push.
	Body  string     `json:"body"`
	Force [3]float64 `json:"force"` // N, world axes
}

// session is one tab. The goroutine of run reads; one writes, one jogs, one pushes, one stops.
type session struct {
	server *Server
	conn   *ws.Conn
	name   string
	want   chan struct{}
	texts  chan []byte
	stops  chan struct{}
	hands  chan request // the newest push or release
	jogger jogger
	others sync.WaitGroup

	// Of the writer.
	generation uint32
	sent       []float32
	status     []byte
	journal    uint64
	answer     uint64 // number of the last stop whose answer it has
	frame      []byte
}

// webSocket serves a tab until it leaves.
func (s *Server) webSocket(w http.ResponseWriter, r *http.Request) {
	select {
	case s.tabs <- struct{}{}:
	default:
		http.Error(w, fmt.Sprintf("tabs: got more than %d, want fewer", cap(s.tabs)), http.StatusServiceUnavailable)
		return
	}
	defer func() { <-s.tabs }()
	// access has checked it
	conn, err := ws.Open(w, r, ws.Options{MaxMessage: maxMessage, WriteTimeout: writeTimeout,
		Origins: []string{r.Host}})
	if err != nil {
		return
	}
	defer conn.Close()
	c := &session{server: s, conn: conn, name: "dashboard@" + r.RemoteAddr, want: make(chan struct{}, 1),
		texts: make(chan []byte, maxTexts), stops: make(chan struct{}, 1), hands: make(chan request, 1)}
	c.jogger = jogger{session: c, wake: make(chan struct{}, 1)}
	err = c.run(r.Context())
	s.options.Log.Debug("dashboard: tab closed", "client", r.RemoteAddr, "reason", err)
}

// run reads until the tab leaves, and waits for all that runs for it.
func (c *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	write := func(ctx context.Context) {
		defer cancel() // the reader ends too
		c.write(ctx)
	}
	for _, work := range []func(context.Context){write, c.jogger.run, c.stop, c.hand} {
		c.others.Go(func() {
			defer c.server.contain()
			work(ctx)
		})
	}
	err := c.read(ctx)
	cancel()
	c.others.Wait()
	return err
}

func (c *session) read(ctx context.Context) error {
	left, last := float64(messageBurst), time.Now()
	ahead := math.Inf(1) // how far our clock is ahead of the tab's, ms, by the fastest message
	for {
		_, b, err := c.conn.Read(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		if left = min(messageBurst, left+messageRate*now.Sub(last).Seconds()) - 1; left < 0 {
			return errFlood
		}
		last = now
		var q request
		if err := json.Unmarshal(b, &q); err != nil {
			return err
		}
		switch q.Op {
		case "next":
			signal(c.want)
		case "stop":
			signal(c.stops) // one more, however many are under way
		case "push", "release":
			select {
			case <-c.hands: // the newest counts
			default:
			}
			c.hands <- q
		case "jog":
			if q.At > 0 {
				since := float64(now.UnixMicro())/1000 - q.At
				if ahead = min(ahead, since); since-ahead > float64(Deadman.Milliseconds()) {
					continue // delayed on its way: its time is over
				}
			}
			c.jogger.set(&q, now)
		case "hold":
			c.jogger.set(nil, now)
		default:
			return fmt.Errorf("op: got %.20q, want next, stop, jog, hold, push or release", q.Op)
		}
	}
}

// stop executes the stops; the reader goes on meanwhile.
func (c *session) stop(ctx context.Context) {
	for {
		select {
		case <-c.stops:
		case <-ctx.Done():
			select {
			case <-c.stops: // the tab's last message
				c.server.execute(control.OrderStop)
			default:
			}
			return
		}
		if answer, ok := c.server.execute(control.OrderStop); ok {
			c.send(answerText{"answer", answer})
		}
	}
}

// hand executes pushes; the reader goes on meanwhile, so that a stop behind a push does not wait.
func (c *session) hand(ctx context.Context) {
	for {
		select {
		case q := <-c.hands:
			if q.Op == "release" {
				c.server.release(&q)
			} else if err := c.server.push(&q, time.Now()); err != nil {
				c.refuse(err)
			}
		case <-ctx.Done():
			return
		}
	}
}

type answerText struct {
	Op string `json:"op"`
	Answer
}

// send queues a text. A tab that leaves too many unread misses it.
func (c *session) send(v any) {
	if b, err := json.Marshal(v); err == nil {
		select {
		case c.texts <- b:
		default:
		}
	}
}

// refuse reports why a joint or body does not move.
func (c *session) refuse(err error) {
	c.send(map[string]string{"op": "jog", "error": err.Error()})
}

// write sends texts as they come, and a frame for each time that the tab has asked.
func (c *session) write(ctx context.Context) {
	var last time.Time
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	asked := false
	for {
		if asked {
			timer.Reset(max(0, time.Until(last.Add(frameInterval))))
		}
		var err error
		select {
		case b := <-c.texts:
			err = c.conn.Write(ctx, true, b)
		case <-c.want:
			asked = true
		case <-timer.C:
			if asked {
				asked, last = false, time.Now()
				err = c.update(ctx)
			}
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// update sends what is new, the frame last.
func (c *session) update(ctx context.Context) error {
	sample, layout := c.server.sampler.take()
	if sample.generation != c.generation {
		c.generation, c.sent = sample.generation, slices.Repeat([]float32{unsent}, len(sample.values))
		if err := c.conn.Write(ctx, true, layout); err != nil {
			return err
		}
	}
	if status := c.server.status(); !bytes.Equal(status, c.status) {
		c.status = status
		if err := c.conn.Write(ctx, true, status); err != nil {
			return err
		}
	}
	if list, now := c.server.journal.since(c.journal); list != nil {
		c.journal = now
		if err := c.put(ctx, map[string]any{"op": "events", "list": list}); err != nil {
			return err
		}
	}
	answer := c.server.stopAnswer()
	if answer != nil && answer.ID > c.answer { // of any tab, or a program
		c.answer = answer.ID
		if err := c.put(ctx, answerText{"answer", *answer}); err != nil {
			return err
		}
	}
	c.frame = appendFrame(c.frame[:0], sample, c.sent)
	if answer != nil {
		c.frame[1] |= frameAnswered // of the stop that is latched
	}
	return c.conn.Write(ctx, false, c.frame)
}

// The flags of a frame.
const (
	frameStopped  = 1 // the stop of a rig is latched
	frameAnswered = 2 // the newest answer is of that stop, not of an earlier one
)

// put writes a text at once.
func (c *session) put(ctx context.Context, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.conn.Write(ctx, true, b)
}

// unsent is no value that a rig has: a NaN with bits of its own.
var unsent = math.Float32frombits(0x7fc0dead)

// appendFrame appends what has changed since sent, and notes it there.
func appendFrame(b []byte, s *sample, sent []float32) []byte {
	b = append(b, 1, s.flags)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s.times)))
	b = binary.LittleEndian.AppendUint32(b, s.generation)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(s.taken.UnixMicro())/1000))
	for _, t := range s.times {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.Seconds()))
	}
	changed := func(i int) bool { return math.Float32bits(s.values[i]) != math.Float32bits(sent[i]) }
	for i := 0; i < len(sent); i++ {
		if !changed(i) {
			continue
		}
		first := i
		b = binary.LittleEndian.AppendUint32(b, uint32(first))
		count := len(b)
		b = binary.LittleEndian.AppendUint32(b, 0)
		// Two that are the same are shorter than the head of another run.
		for ; i < len(sent) && (changed(i) || i+1 < len(sent) && changed(i+1) || i+2 < len(sent) && changed(i+2)); i++ {
			sent[i] = s.values[i]
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s.values[i]))
		}
		binary.LittleEndian.PutUint32(b[count:], uint32(i-first))
	}
	return b
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// contain is hal.Rig.Contain for all rigs that are shown.
func (s *Server) contain() {
	p := recover()
	if p == nil {
		return
	}
	s.options.Log.Error("panic", "in", "dashboard", "value", p, "stack", string(debug.Stack()))
	for _, r := range s.sampler.rigs {
		r.Rig.EmergencyStop(fmt.Sprintf("panic in dashboard: %v", p))
	}
}
