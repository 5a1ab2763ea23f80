package okon

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

func decoded(t *testing.T, b []byte) image.Image {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	return m
}

// TestPictures: pictures of both cameras, as bytes and as text; each is taken once for all clients, and an idle camera
// is not watched.
func TestPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		ask := func(client, packet string) Packet {
			s.play(client + "> " + packet)
			return s.receive(client)
		}
		video := ask("a", "GET_VIDEO_BYTES 2")
		if m := decoded(t, video.Data); m.Bounds() != image.Rect(0, 0, 32, 16) || video.Flag != 2 {
			t.Errorf("got %v, flag %d", m.Bounds(), video.Flag)
		}
		text := ask("b", "GET_VIDEO 0")
		if b, err := base64.StdEncoding.AppendDecode(nil, text.Data); err != nil || !bytes.Equal(b, video.Data) {
			t.Errorf("as text to another client: got %.20s, %v; want the same picture", text.Data, err)
		}
		if opened, rounds, held := s.theatre.counts(); opened != 1 || rounds != 1 || held != 1 {
			t.Errorf("got %d watches, %d pictures, %d held; want 1 of each", opened, rounds, held)
		}
		again := ask("a", "GET_VIDEO_BYTES 0")
		if bytes.Equal(again.Data, video.Data) {
			t.Error("the next: got the same picture, want a newer one")
		}
		if m := decoded(t, ask("a", "GET_DEPTH_BYTES 0").Data); m.Bounds() != image.Rect(0, 0, 8, 4) {
			t.Errorf("depth: got %v", m.Bounds())
		}
		if _, ok := decoded(t, ask("a", "GET_VIDEO_BYTES 0").Data).(*image.YCbCr); !ok {
			t.Error("got no colours")
		}
		s.play("a~ 1200ms")
		if opened, _, held := s.theatre.counts(); opened != 0 || held != 0 {
			t.Errorf("after a while: got %d watches, %d held; want none", opened, held)
		}
		s.conns["a"].Close()
		s.conns["b"].Close()
		clear(s.conns)
		if got := ask("c", "GET_VIDEO_BYTES 0"); got.Type != GetVideoBytes {
			t.Errorf("later: got %v %s", got.Type, got.Data)
		}
	})
}

// TestPicturesDelayNoAnswer: other answers do not wait for a picture, and its echo follows it.
func TestPicturesDelayNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
		s.play(`a> GET_DETE 0
		a< GET_DETE 0 []
		a> GET_DETE 3
		a> GET_SENS 1
		a< GET_SENS 1 ...
		a< ACK 0 {"fromClient":""}
		a< GET_DETE 3 []
		a< ACK 0 {"fromClient":""}`)
		// without a new picture the last one is sent again
		s.play("a> GET_VIDEO_BYTES 0")
		first := s.receive("a")
		s.theatre.mu.Lock()
		s.theatre.stopped = true
		s.theatre.mu.Unlock()
		start := time.Now()
		s.play("a> GET_VIDEO_BYTES 0")
		if again := s.receive("a"); !bytes.Equal(again.Data, first.Data) || time.Since(start) != timeout {
			t.Errorf("got another picture after %v, want the same after %v", time.Since(start), timeout)
		}
	})
}

// A camera that is lost has no pictures, not old ones; when it is back it has new ones.
func TestPicturesLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		ask := func() Packet {
			s.play("a> GET_VIDEO_BYTES 0")
			return s.receive("a")
		}
		lose := func(err error) {
			s.theatre.mu.Lock()
			s.theatre.lost = err
			s.theatre.mu.Unlock()
		}
		first := ask()
		lose(&hal.Error{Kind: hal.Absent, Op: "camera front", Err: errors.New("it is gone")})
		if got := ask(); got.Type != failure || !strings.Contains(string(got.Data), "it is gone") {
			t.Errorf("lost: got %v %s", got.Type, got.Data)
		}
		lose(nil)
		if got := ask(); got.Type != GetVideoBytes || bytes.Equal(got.Data, first.Data) {
			t.Errorf("back: got %v, want a new picture", got.Type)
		}
	})
}

func TestDetections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		s.theatre.sights = []hal.Detection{
			{Class: "gate", Box: [4]float64{0.25, 0.125, 0.75, 0.5}, Distance: 4.5, Visible: 1, Fill: 0.1875,
				Colour: 0.75},
			{Class: "buoy", Distance: math.Inf(1)},
		}
		s.play(`a> GET_DETE 2
		a< GET_DETE 2 [{"visibleInFrame":true,"min":{"x":0.25,"y":0.5},"max":{"x":0.75,"y":0.875},"fill":0.1875,"className":"gate","distance":4.5,"colorPercentVisible":0.75},` +
			`{"visibleInFrame":false,"min":{"x":0,"y":0},"max":{"x":0,"y":0},"fill":0,"className":"buoy","distance":null,"colorPercentVisible":0}]`)
		if _, rounds, _ := s.theatre.counts(); rounds != 1 {
			t.Errorf("got %d pictures, want 1", rounds)
		}
	})
}

// TestQuality: it counts from the next picture on, and compresses the same one again.
func TestQuality(t *testing.T) {
	var e encoder
	p := &hal.Picture{Width: 64, Height: 64, RGB: make([]byte, 3*64*64)}
	for i := range p.RGB {
		p.RGB[i] = byte(i * i)
	}
	poor, _ := e.encode(p, 0, 20)
	good, _ := e.encode(p, 100, 20)
	if len(poor) == 0 || len(good) < 2*len(poor) {
		t.Errorf("got %d and %d bytes", len(poor), len(good))
	}
	depth := &hal.Picture{Width: 16, Height: 16, Depth: make([]float32, 256)}
	for i := range depth.Depth {
		depth.Depth[i] = []float32{0, 10, 20, float32(math.Inf(1))}[i/64]
	}
	b, err := e.encode(depth, 100, 20)
	if err != nil {
		t.Fatal(err)
	}
	m := decoded(t, b).(*image.Gray)
	for i, want := range []int{255, 127, 0, 0} {
		if got := int(m.GrayAt(8, 4*i+2).Y); got < want-4 || got > want+4 {
			t.Errorf("depth %g: got %d, want about %d", depth.Depth[64*i], got, want)
		}
	}
	for _, bad := range []*hal.Picture{{}, {Width: 2, Height: 2, RGB: make([]byte, 11)},
		{Width: -1, Height: -1, Depth: make([]float32, 1)}} {
		if _, err := e.encode(bad, 30, 20); err == nil {
			t.Errorf("%+v: got a picture, want an error", bad)
		}
	}
}

func TestFindViews(t *testing.T) {
	for _, k := range []struct {
		names string
		want  Views
	}{
		{"", Views{hal.None, hal.None, hal.None}}, {"front", Views{0, hal.None, 0}},
		{"Depth", Views{hal.None, 0, hal.None}},
		{"front_depth down front", Views{1, 0, 1}},
	} {
		l := &hal.Layout{}
		for _, n := range strings.Fields(k.names) {
			l.Cameras = append(l.Cameras, hal.Camera{Name: n})
		}
		if got := FindViews(l); got != k.want {
			t.Errorf("%q: got %+v, want %+v", k.names, got, k.want)
		}
	}
}

// videoStage is a stage with a server of the video channel.
func videoStage(t *testing.T, o Options) (*stage, *VideoServer, *protocolstest.Pipes) {
	t.Helper()
	s := newStage(t, config{still: true})
	lines := protocolstest.NewPipes("pipes")
	v := NewVideoServer(lines, s.pictures, o)
	serve(t, v.Serve)
	return s, v, lines
}

// TestVideoChannel: one byte is a request; the original's answer has no flag. An unknown byte is answered with an
// ERROR.
func TestVideoChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, lines := videoStage(t, Options{})
		conn := dialAs(lines, "v")
		read := func(n int) []byte {
			t.Helper()
			b := make([]byte, n)
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			for got := 0; got < n; {
				k, err := conn.Read(b[got:])
				if err != nil {
					t.Fatal(err)
				}
				got += k
			}
			return b
		}
		length := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24 }
		conn.Write([]byte{0, 0, byte(legacyVideo)})
		head := read(5)
		if m := decoded(t, read(length(head[1:]))); head[0] != 0x69 || m.Bounds().Dx() != 32 {
			t.Errorf("0x69: got %x, %v", head, m.Bounds())
		}
		for camera, width := range map[Type]int{GetVideoBytes: 32, GetDepthBytes: 8} {
			conn.Write([]byte{byte(camera)})
			head = read(headerSize)
			if m := decoded(t, read(length(head[2:]))); Type(head[0]) != camera || head[1] != 0 ||
				m.Bounds().Dx() != width {
				t.Errorf("%v: got %x, %v", camera, head, m.Bounds())
			}
		}
		conn.Write([]byte{0x42})
		head = read(headerSize)
		var f Fault
		if err := json.Unmarshal(read(length(head[2:])), &f); Type(head[0]) != failure || err != nil ||
			f.Info != "Unknown dataframe type 0x42" {
			t.Errorf("0x42: got %x, %+v, %v", head, f, err)
		}
		if _, rounds, _ := s.theatre.counts(); rounds != 3 {
			t.Errorf("got %d pictures, want 3", rounds)
		}
		conn.Write([]byte{byte(illegal)})
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("0xFF: got more, want the end")
		}
	})
}

// TestVideoNeverRead: a viewer that never reads is disconnected after its timeout; another one gets every picture
// meanwhile.
func TestVideoNeverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, v, lines := videoStage(t, Options{WriteTimeout: time.Second})
		deaf := dialAs(lines, "deaf")
		ended := make(chan time.Duration, 1)
		start := time.Now()
		go func() {
			for {
				if _, err := deaf.Write(bytes.Repeat([]byte{byte(legacyVideo)}, 1000)); err != nil {
					ended <- time.Since(start)
					return
				}
			}
		}()
		client := &VideoClient{conn: dialAs(lines, "v"), timeout: time.Minute}
		client.in = newReader(client.conn)
		for range 40 {
			b, err := client.Next()
			if err != nil {
				t.Fatal(err)
			}
			decoded(t, b)
		}
		if took := time.Since(start); took > 40*exposure {
			t.Errorf("40 pictures took %v, want %v at most", took, 40*exposure)
		}
		if at := <-ended; at > 1500*time.Millisecond || v.Traffic().Dropped(protocols.Unsent) != 1 {
			t.Errorf("ended after %v, %d unsent; want a second and 1", at, v.Traffic().Dropped(protocols.Unsent))
		}
		client.Close()
	})
}

// TestNoPictures: without cameras every request is refused, and the session continues.
func TestNoPictures(t *testing.T) {
	for _, pictures := range []*pictures{nil, NewPictures(&theatre{}, FindViews(&hal.Layout{}), PictureOptions{})} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		serve(t, NewVideoServer(ln, pictures, Options{}).Serve)
		c, err := DialVideo(ln.Addr().String(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := c.Next(); err == nil || err.Error() != "okon: refused: no picture" {
				t.Errorf("got %v, want a refusal", err)
			}
		}
		c.Close()
	}
}
