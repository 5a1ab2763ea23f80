package okon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// hostile are requests that are answered with an ERROR and have no effect.
var hostile = []struct {
	Type
	data string
}{
	{SetMotors, "{"}, {SetMotors, "[]"}, {SetMotors, `{"FLH":"fast"}`}, {SetMotors, `{"FLH":NaN}`},
	{SetMotors, `{"FLH":1e999}`},
	{SetMotors, `{"FLH":1} trailing`}, {SetMotors, "\x00\xff\xfe"}, {SetStable, `{"rot":[1,2,3]}`},
	{SetStable, `{"rot":{"x":Infinity}}`},
	{SetStable, `{"depth":1e30}`}, {SetStable, strings.Repeat("[", 9000)}, {SetAcro, `{"rotSpeed":{"x":1e7}}`},
	{SetAcro, `"acro"`},
	{SetPID, `{"roll":{"p":1e38}}`}, {SetPID, `{"roll":{"windupCap":-1}}`}, {SetPID, `{"roll":7}`},
	{SetPID, `nonsense`},
	{SetOrientation, `{"pos":{"x":1e30}}`}, {SetOrientation, `{"pos":{"x":"y"}}`}, {SetSim, `{"quality":-1}`},
	{SetSim, `{"quality":1.5}`},
	{SetSim, `30`}, {SetControlMode, strings.Repeat("x", 65)}, {Type(0x00), ""}, {Type(0xFE), "\x1b[2J"},
	{HitFinish, "FZ"}, {failure, "{}"},
}

func TestHostileRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		before := s.pilot.Tuning()
		s.play(manual)
		for _, k := range hostile {
			s.conn("a").Write(Append(nil, Packet{Type: k.Type, Data: []byte(k.data)}))
			p := s.receive("a")
			var f Fault
			if err := json.Unmarshal(p.Data, &f); p.Type != failure || p.Flag != 0 || err != nil || f.Info == "" {
				t.Fatalf("%v %.40q: got %v %d %q, %v; want an ERROR", k.Type, k.data, p.Type, p.Flag, p.Data, err)
			}
			for _, c := range p.Data {
				if c < ' ' || c > '~' {
					t.Fatalf("%v %.40q: got %q, want ASCII", k.Type, k.data, p.Data)
				}
			}
		}
		s.play("a> PING 0 still\na< PING 0 still")
		s.wantDuty("afterwards", 4, 0.5, true)
		if s.pilot.Tuning() != before || s.pictures.Quality() != 30 || s.body.happened() != "" {
			t.Errorf("got %+v, quality %d, %q; want all as before", s.pilot.Tuning(), s.pictures.Quality(),
				s.body.happened())
		}
	})
}

// TestLengths: a length that cannot be is answered and ends the session. Others go on.
func TestLengths(t *testing.T) {
	for _, n := range []int{-1, -1 << 31, maxRequest + 1, 1<<31 - 1} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{})
			s.play("b> PING 0\nb< PING 0")
			s.conn("a").Write(appendHeader(nil, SetStable, 0, n))
			s.play(fmt.Sprintf("a< ERROR 0 {\"info\":\"SET_STABLE of %d bytes, want 0..16384: okon: length out of "+
				"bounds\",\"fromClient\":\"\"}\na|\nb> PING 0\nb< PING 0", n))
			if got := s.server.Traffic().Dropped(protocols.Oversized); got != 1 {
				t.Errorf("got %d oversized, want 1", got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		s.play("a> PING 0 " + strings.Repeat("x", maxRequest) + "\na< PING 0 " + strings.Repeat("x", maxRequest))
	})
}

// TestPieces: a packet may arrive byte by byte, or several in one piece; half a packet waits, and the end of the
// connection then ends the session.
func TestPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		conn := s.conn("a")
		for _, b := range Append(nil, Packet{Ping, 0, []byte("slow")}) {
			conn.Write([]byte{b})
		}
		s.play("a< PING 0 slow")
		var all []byte
		for i := range 300 {
			all = Append(all, Packet{Ping, Flag(i) &^ serverEcho, []byte{byte('a' + i%26)}})
		}
		go conn.Write(all)
		for i := range 300 {
			s.play(fmt.Sprintf("a< PING %d %c", byte(i)&^1, 'a'+i%26))
		}
		conn.Write([]byte{byte(Ping), 0, 9})
		s.play("b> PING 0\nb< PING 0\na.\nb> PING 0\nb< PING 0")
		// one 0xFF is enough, wherever a packet may begin
		s.conn("c").Write(append(Append(nil, Packet{Type: SetControlMode}), byte(illegal)))
		s.play("c|")
	})
}

// TestNeverReads: a client that sends and never reads is disconnected; the other clients and the rig do not wait.
func TestNeverReads(t *testing.T) {
	for name, request := range map[string]Packet{
		"replies":  {Type: GetSensors},
		"pictures": {Type: GetVideoBytes},
		"echoes":   {Type: SetStable, Flag: serverEcho, Data: []byte("{}")},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{Options: Options{WriteTimeout: time.Second, Heartbeat: time.Hour}})
			a, start := s.conn("a"), time.Now()
			ended := make(chan error, 1)
			go func() {
				var err error
				for err == nil {
					_, err = a.Write(Append(nil, request))
				}
				ended <- err
			}()
			for range 10 {
				was := time.Now()
				s.play("b> GET_SENS 0\nb< GET_SENS 0 ...\nb~ 100ms")
				if waited := time.Since(was); waited > 110*time.Millisecond {
					t.Errorf("%s: the other client waited %v", name, waited)
				}
			}
			if err := <-ended; !errors.Is(err, io.ErrClosedPipe) || time.Since(start) > 3*time.Second {
				t.Errorf("%s: got %v after %v, want the end after a second", name, err, time.Since(start))
			}
			if got := s.server.Traffic().Dropped(protocols.Unsent); got != 1 {
				t.Errorf("%s: got %d unsent, want 1", name, got)
			}
		})
	}
}

// TestBroadcastToDeaf: broadcasts queue up to a bound for a client that does not read, and no other client waits.
func TestBroadcastToDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{still: true, Options: Options{WriteTimeout: time.Hour, Heartbeat: time.Hour}})
		s.play("a> PING 0\na< PING 0")
		synctest.Wait()
		data := make([]byte, 64<<10)
		for range 2 * maxPending / len(data) {
			s.server.broadcast(HitNoGo, data)
			synctest.Wait()
		}
		if got := s.server.Traffic().Dropped(protocols.Unsent); got != 1 {
			t.Errorf("got %d given up, want 1\n%s", got, s.log)
		}
	})
}

// TestTooManyPictures: requests of pictures wait for earlier ones; beyond three minutes' worth the client gets an
// ERROR.
func TestTooManyPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
		s.theatre.stopped = true
		var all []byte
		for range maxAsked + maxWaiting + 1 {
			all = Append(all, Packet{Type: GetVideoBytes})
		}
		s.conn("a").Write(all)
		s.play("a< ERROR 0 {\"info\":\"GET_VIDEO_BYTES: too many pictures asked for\",\"fromClient\":\"\"}")
		for range maxAsked + maxWaiting {
			s.play("a< ERROR 0 {\"info\":\"GET_VIDEO_BYTES: context deadline exceeded\",\"fromClient\":\"\"}")
		}
		s.play("a> GET_DETE 0\na< GET_DETE 0 []")
	})
}

// TestPicturesWithoutCamera: every request is answered, also those that wait behind requests of a camera that the robot
// lacks.
func TestPicturesWithoutCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
		s.server.robot.Pictures.views.Depth = hal.None
		var all []byte
		kinds := append(slices.Repeat([]Type{GetVideoBytes}, maxAsked),
			slices.Repeat([]Type{GetDepthBytes}, 2*maxAsked)...)
		kinds = append(kinds, GetVideoBytes)
		for _, k := range kinds {
			all = Append(all, Packet{Type: k})
		}
		s.conn("a").Write(all)
		got := map[Type]int{}
		for range kinds {
			got[s.receive("a").Type]++
		}
		if got[GetVideoBytes] != maxAsked+1 || got[failure] != 2*maxAsked {
			t.Errorf("got %v, want %d pictures and %d errors", got, maxAsked+1, 2*maxAsked)
		}
	})
}

// TestPicturesOfNobody: after a client has left no picture is rendered for it.
func TestPicturesOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
		var all []byte
		for range 1000 {
			all = Append(all, Packet{Type: GetVideoBytes})
		}
		conn := s.conn("a")
		go conn.Write(all)
		s.receive("a")
		synctest.Wait()
		conn.Close()
		delete(s.conns, "a")
		time.Sleep(2*time.Second + idle)
		if opened, _, _ := s.theatre.counts(); opened != 0 {
			t.Errorf("2 s after it left: got %d cameras watched, want none", opened)
		}
	})
}

// TestCrowd: a thousand connections; those above the limit are refused with an ERROR, and later ones are accepted
// again.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{MaxClients: 200, Heartbeat: time.Hour}})
		was := runtime.NumGoroutine()
		var conns []net.Conn
		for i := range 1000 {
			conn := dialAs(s.lines, fmt.Sprint(i))
			conns = append(conns, conn)
			if i < 200 {
				conn.Write(Append(nil, Packet{Type: Ping}))
				io.ReadFull(conn, make([]byte, headerSize))
			} else {
				b, err := io.ReadAll(conn)
				if err != nil || !strings.Contains(string(b), "too many clients") {
					t.Fatalf("client %d: got %q, %v", i, b, err)
				}
			}
		}
		s.conns["x"] = conns[199]
		s.play("x> GET_SENS 0\nx< GET_SENS 0 ...")
		if got := s.server.Traffic().Dropped(protocols.Full); got != 800 {
			t.Errorf("got %d turned away, want 800", got)
		}
		for _, c := range conns {
			c.Close()
		}
		delete(s.conns, "x")
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > was+5 {
			t.Errorf("got %d goroutines, want about %d", n, was)
		}
		s.play("y> PING 0\ny< PING 0")
	})
}

// TestClientTimeout: where silence is death, it is.
func TestClientTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{ClientTimeout: time.Minute, Heartbeat: time.Hour}})
		start := time.Now()
		s.play("a> PING 0\na< PING 0\na~ 40s\na> PING 0\na< PING 0\na~ 50s\na|")
		if at := time.Since(start); at > 2*time.Minute {
			t.Errorf("ended after %v, want within two minutes", at)
		}
	})
}

// TestNoise: after random packets a valid one is still answered, and no goroutine leaks.
func TestNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{guard: hal.GuardConfig{CommandTimeout: time.Second},
			Options: Options{Heartbeat: time.Hour}})
		random := rand.New(rand.NewPCG(1, 2))
		conn := s.conn("a")
		go io.Copy(io.Discard, conn)
		types := []Type{SetMotors, ArmMotors, DisarmMotors, SetControlMode, SetAcro, SetStable, SetPID, GetSensors,
			GetDepth,
			GetVideo, SetSim, Ack, SetOrientation, ResetSim, Ping, GetCheckpoints, CheckAction, GetDetections}
		texts := []string{startPIDs + speedPIDs, `{"rot":{"x":1,"y":2,"z":3},"vel":{"x":1,"y":0,"z":0},"depth":1.5}`,
			"manual", "acro", "stable", `{"FLH":1}`, ""}
		for range 5000 {
			b := []byte(texts[random.IntN(len(texts))])
			for range random.IntN(3) {
				if len(b) > 0 {
					b[random.IntN(len(b))] = byte(random.IntN(256))
				}
			}
			p := Packet{Type: types[random.IntN(len(types))], Flag: Flag(random.IntN(256)),
				Data: b[:random.IntN(len(b)+1)]}
			if _, err := conn.Write(Append(nil, p)); err != nil {
				t.Fatalf("%v %q: %v", p.Type, p.Data, err)
			}
		}
		s.play("b> PING 0\nb< PING 0\nb~ 100ms")
		for i := range 8 {
			if u, enabled := s.duty(i); enabled && !(u >= -1 && u <= 1) {
				t.Errorf("thruster %d: got %g", i, u)
			}
		}
	})
}
