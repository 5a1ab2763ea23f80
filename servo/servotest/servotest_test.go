package servotest

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

const session = `
# ping two, then the adapter goes
> FF FF 01 02 01 FB
< FF FF 01 02 00 FC
> FF FF 02
+ "\x02\x01\xFA"
< silence
> any
after 1ms
< FF FF 03
< 02
< gone
`

func open(t *testing.T, text string) *Playback {
	t.Helper()
	turns, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return NewPlayback(1000000, turns...)
}

// talk does what the session says and returns what was read, by turn.
func talk(t *testing.T, line servo.Line) []string {
	t.Helper()
	var heard []string
	for _, w := range []string{"\xFF\xFF\x01\x02\x01\xFB", "\xFF\xFF\x02\x02\x01\xFA", "anything"} {
		if _, err := line.Write([]byte(w)); err != nil {
			t.Fatalf("write: got %v", err)
		}
		var got []byte
		var p [16]byte
		for {
			n, err := line.Read(p[:], 2*time.Millisecond)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		heard = append(heard, string(got))
	}
	return heard
}

func TestPlaybackAndRecord(t *testing.T) {
	for _, piece := range []int{0, 1} {
		line := open(t, session)
		line.Piece = piece
		rec := &Record{Line: line}
		heard := talk(t, rec)
		if heard[0] != "\xFF\xFF\x01\x02\x00\xFC" || heard[1] != "" || heard[2] != "\xFF\xFF\x03\x02" {
			t.Errorf("piece %d: heard %q", piece, heard)
		}
		// 6+6 bytes and 2 ms of silence, 6 bytes and 2 ms, 8+4 bytes and 1 ms, at 10 µs a byte.
		if want := 300*time.Microsecond + 5*time.Millisecond; line.Now() != want {
			t.Errorf("clock: got %v, want %v", line.Now(), want)
		}
		if _, err := line.Write(nil); !errors.Is(err, servo.ErrDisconnected) {
			t.Errorf("write after the end: got %v, want %v", err, servo.ErrDisconnected)
		}
		if err := line.Close(); err != nil {
			t.Errorf("close: got %v", err)
		}
		// What was recorded plays again, to the letter.
		again, err := Parse(rec.String())
		if err != nil {
			t.Fatalf("recorded session: %v", err)
		}
		if got := talk(t, NewPlayback(1000000, again...)); strings.Join(got, "|") != strings.Join(heard, "|") {
			t.Errorf("played again: got %q, want %q", got, heard)
		}
	}
}

func TestPlaybackFindsFault(t *testing.T) {
	for _, c := range []struct {
		name, text, write, want string
	}{
		{"wrong bytes", "> 01 02\n", "\x01\x03", "write 0: got 01 03, want 01 02"},
		{"leftover", "> 01\n> 02\n", "\x01", "closed with 1 turns left: want write of 02"},
		{"too much", "", "\x01", "write 0: got 01, want nothing more"},
		{"a malformed text", "> 01\n? 02\n", "\x01", "line 2"},
	} {
		line := Play(1000000, c.text)
		line.Write([]byte(c.write))
		if err := line.Close(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"< 01", "line 1"}, {"> 0", "line 1"}, {"> 01\n? 02", "line 2"}, {"> 01\nafter soon", "line 2"},
		{"> \"a", "line 1"},
	} {
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want one at %s", c.text, err, c.want)
		}
	}
}

func TestLateAnswerIsSilence(t *testing.T) {
	line := Play(1000000, "> 01\nafter 5ms\n< 02")
	line.Write([]byte{1})
	var p [4]byte
	if _, err := line.Read(p[:], time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: got %v, want %v", err, os.ErrDeadlineExceeded)
	}
	line.SleepUntil(line.Now() + 5*time.Millisecond)
	line.SleepUntil(0) // long over
	if n, err := line.Read(p[:], 0); n != 1 || err != nil {
		t.Errorf("read later: got %d, %v, want 1, nil", n, err)
	}
	line.SetBaud(57600)
	if line.Baud() != 57600 {
		t.Errorf("baud: got %d", line.Baud())
	}
	if err := line.Discard(); err != nil {
		t.Errorf("discard: got %v", err)
	}
}

// Unsolicited bytes of a device arrive at their time, even after a Discard of earlier bytes; Record keeps the time.
func TestWords(t *testing.T) {
	const said = "> 01\n< 02\nafter 20ms\n< 03\nafter 30ms\n< 04 05\n< gone\n"
	rec := &Record{Line: Play(10000, said)}
	rec.Write([]byte{1})
	var p [4]byte
	for i, c := range []struct {
		wait time.Duration
		want string
		at   time.Duration
	}{{0, "", 1}, {time.Second, "\x02", 2}, {5 * time.Millisecond, "", 7}, {time.Second, "\x03", 23},
		{time.Second, "\x04\x05", 55}} {
		n, err := rec.Read(p[:], c.wait)
		if string(p[:n]) != c.want || errors.Is(err, os.ErrDeadlineExceeded) != (c.want == "") ||
			rec.Now() != c.at*time.Millisecond {
			t.Errorf("read %d: got % X, %v at %v, want % X at %d ms", i, p[:n], err, rec.Now(), c.want, c.at)
		}
		if i == 2 {
			rec.Discard()
		}
	}
	if _, err := rec.Read(p[:], 0); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("after the end: got %v", err)
	}
	if rec.String() != said {
		t.Errorf("recorded:\n%swant\n%s", rec.String(), said)
	}
}
