package okon_test

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols/okon"
)

// guest is a client that comes and goes. It does something each round, until it leaves or is thrown out.
type guest struct {
	video   bool                    // which channel it comes to
	reads   bool                    // what comes is taken
	rude    bool                    // leaves with a reset, not a close
	act     func(*rand.Rand) []byte // what it sends in a round
	conn    net.Conn
	reading sync.WaitGroup
}

func packet(t okon.Type, f okon.Flag, data string) []byte {
	return okon.Append(nil, okon.Packet{Type: t, Flag: f, Data: []byte(data)})
}

// polite are requests that mean something.
var polite = []struct {
	okon.Type
	data string
}{
	{okon.GetSensors, ""}, {okon.GetSensors, ""}, {okon.SetOrientation, ""}, {okon.SetPID, ""},
	{okon.SetControlMode, ""}, {okon.SetStable, ""},
	{okon.Ping, `{"timestamp":1,"ping":2}`}, {okon.Ack, ""}, {okon.GetCheckpoints, ""}, {okon.CheckAction, ""},
	{okon.CheckAction, `{"id":"AP1"}`},
	{okon.ArmMotors, ""}, {okon.DisarmMotors, ""}, {okon.SetControlMode, "stable"}, {okon.SetControlMode, "acro"},
	{okon.SetMotors, `{"FLV":0.3}`},
	{okon.SetStable, `{"rot":{"x":0,"y":20,"z":0},"vel":{"x":0,"y":0,"z":0.2},"depth":1.2}`},
	{okon.SetAcro, `{"rotSpeed":{"y":0.3}}`},
	{okon.SetOrientation, `{"rot":{"x":0,"y":0,"z":0},"pos":{"x":-5,"y":-1.5,"z":11}}`}, {okon.ResetSim, ""},
	{okon.SetSim, `{"quality":20}`},
}

// newGuest draws one of those that have been seen on the net, or might be.
func newGuest(r *rand.Rand) *guest {
	some := func(r *rand.Rand) []byte {
		p := polite[r.IntN(len(polite))]
		return packet(p.Type, okon.Flag(r.IntN(4)), p.data)
	}
	picture := []okon.Type{okon.GetVideoBytes, okon.GetDepthBytes, okon.GetDetections, okon.GetVideo, okon.GetDepth}
	switch r.IntN(12) {
	case 0, 1, 2, 3: // a good one
		return &guest{reads: true, act: some}
	case 4: // looks on
		return &guest{reads: true, act: func(
			r *rand.Rand) []byte {
			return packet(picture[r.IntN(len(picture))], 2, "")
		}}
	case 5: // of the video
		return &guest{video: true, reads: true, act: func(r *rand.Rand) []byte { return []byte{0x69} }}
	case 6: // never reads what it asks for
		return &guest{act: func(r *rand.Rand) (b []byte) {
			for range 200 {
				b = append(b, some(r)...)
			}
			return append(b, packet(okon.GetVideo, 1, "")...)
		}}
	case 7: // nor its video
		return &guest{video: true, rude: true,
			act: func(r *rand.Rand) []byte { return []byte(strings.Repeat("\x69", 50)) }}
	case 8: // half a frame, and never the other half
		return &guest{rude: true, reads: true, act: func(r *rand.Rand) []byte {
			return packet(okon.SetStable, 0, `{"depth":1}`)[:1+r.IntN(15)]
		}}
	case 9: // lengths that cannot be
		return &guest{reads: true, act: func(r *rand.Rand) []byte {
			return append(packet(okon.Ping, 0, "")[:2],
				binary.LittleEndian.AppendUint32(nil, []uint32{1 << 31, 1<<32 - 1, 1<<31 - 1, 16385}[r.IntN(4)])...)
		}}
	case 10: // noise, the illegal byte in it too
		return &guest{video: r.IntN(2) == 0, reads: true, act: func(r *rand.Rand) []byte {
			b := make([]byte, r.IntN(3000))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		}}
	}
	return &guest{rude: true, act: func(*rand.Rand) []byte { return nil }} // comes and says nothing
}

// come connects to the rig's servers.
func (g *guest) come(d *dock) {
	at := 0
	if g.video {
		at = 1
	}
	conn, err := net.Dial("tcp", d.servers.Ready[at].Address)
	d.must(err)
	if g.conn = conn; g.reads {
		g.reading.Go(func() { io.Copy(io.Discard, conn) })
	}
}

// do sends what the guest has to say; an error is that it was thrown out, or does not read and is not read either.
func (g *guest) do(r *rand.Rand) error {
	g.conn.SetWriteDeadline(time.Now().Add(5 * time.Millisecond))
	_, err := g.conn.Write(g.act(r))
	return err
}

func (g *guest) leave() {
	if c, ok := g.conn.(*net.TCPConn); ok && g.rude {
		c.SetLinger(0)
	}
	g.conn.Close()
	g.reading.Wait()
}

// crowd lets guests come and go for span of simulated time, and reports how many came.
func (d *dock) crowd(r *rand.Rand, span time.Duration) (came int, most uint64) {
	d.t.Helper()
	const room = 30
	var here []*guest
	for until := d.sys.Scene.Now() + span; d.sys.Scene.Now() < until; {
		for range r.IntN(4) {
			if len(here) < room {
				g := newGuest(r)
				g.come(d)
				here, came = append(here, g), came+1
			}
		}
		stay := here[:0]
		for _, g := range here {
			if g.do(r) != nil || r.IntN(5) == 0 {
				g.leave()
			} else {
				stay = append(stay, g)
			}
		}
		here = stay
		// All the while, one that means well is served.
		if s, err := d.client.Sensors(); err != nil || !(s.Baro.Pressure > -1000) {
			d.t.Fatalf("after %d guests: got %+v, %v", came, s, err)
		}
		if _, err := d.client.PIDs(); err != nil {
			d.t.Fatalf("after %d guests: %v", came, err)
		}
		d.client.Events()
		d.gate.pass(time.Duration(1+r.IntN(60)) * 20 * time.Millisecond)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	for _, g := range here {
		g.leave()
	}
	return came, most
}

// rest lets what the crowd has left come to its end, until there has been no other number of goroutines for two
// seconds, and tells what there is: cameras are watched for one second after the last who looked.
func (d *dock) rest() (routines int, heap uint64) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for same := 0; same < 20; same++ {
		<-tick.C
		d.gate.pass(20 * time.Millisecond)
		if n := runtime.NumGoroutine(); n != routines {
			routines, same = n, 0
		}
	}
	// Twice: what a finalizer or a pool lets go is gone after the second.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return routines, m.HeapAlloc
}

// TestOkonCrowd: random clients, good and bad, come to a rig and go for a simulated minute, or with HALYARD_LONG for an
// hour, as fast as the machine can. Who means well is served all the while, and nothing of the others stays: goroutines
// and memory are compared with those after a first crowd, when all that is kept for good has been made.
func TestOkonCrowd(t *testing.T) {
	span := time.Minute
	if os.Getenv("HALYARD_LONG") != "" {
		span = time.Hour
	}
	d := newDock(t, configs.Options{})
	r := rand.New(rand.NewPCG(4, 44210))
	glance(d, d.video.Next)
	glance(d, func() ([]byte, error) { return d.client.Picture(okon.GetDepthBytes) })
	d.crowd(r, 10*time.Second)
	routines, heap := d.rest()
	start := time.Now()
	came, most := d.crowd(r, span)
	after, left := d.rest()
	t.Logf("%v simulated in %v: %d clients; goroutines %d, %d after; heap %.2f MB, %.2f MB after, %.1f MB at most",
		span, time.Since(start).Round(time.Second), came, routines, after, float64(heap)/1e6, float64(left)/1e6,
		float64(most)/1e6)
	if after > routines {
		t.Errorf("goroutines: got %d and %d afterwards", routines, after)
	}
	if left > heap+2<<20 {
		t.Errorf("memory: got %d bytes and %d afterwards", heap, left)
	}
	if most > 200<<20 {
		t.Errorf("memory: got %d bytes at one time", most)
	}
	var s hal.Stats
	d.sys.Rig.Stats(&s)
	if s.Faults != 0 {
		t.Errorf("faults: got %d: %s", s.Faults, s.LastFault)
	}
	// And it flies as before.
	d.must(d.client.Reset())
	d.must(d.client.SetMode("stable"))
	d.must(d.client.SetStable(okon.Stable{Depth: 1}))
	d.must(d.client.Arm())
	d.Run(15 * time.Second)
	if off := d.depth() - 1; off > 0.05 || off < -0.05 {
		t.Errorf("afterwards: got a depth of %.3f m, want 1", d.depth())
	}
}
