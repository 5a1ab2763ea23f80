package servo

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// echoing is a line that receives its own echo; in holds other received bytes.
type echoing struct {
	Line
	in  []byte
	now time.Duration
}

func (l *echoing) Now() time.Duration { return l.now }
func (l *echoing) Baud() int          { return 1000000 }

func (l *echoing) Write(p []byte) (int, error) {
	l.in = append(l.in, p...)
	return len(p), nil
}

func (l *echoing) Read(p []byte, timeout time.Duration) (int, error) {
	if len(l.in) == 0 {
		l.now += timeout
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, l.in)
	l.in = l.in[n:]
	return n, nil
}

func (l *echoing) Discard() error { l.in = nil; return nil }

func TestUnechoed(t *testing.T) {
	for _, c := range []struct {
		name        string
		send, heard string // heard follows the echo
		lose        int    // bytes of the echo that are lost at its end
		want        string
	}{
		{"echo and answer", "ask", "answer", 0, "answer"},
		{"echo alone", "ask", "", 0, ""},
		{"an answer equal to the question", "ask", "ask", 0, "ask"},
		{"the end of the echo is lost", "ask", "xanswer", 1, "xanswer"},
	} {
		for size := 1; size < 12; size++ { // however the bytes come
			raw := &echoing{}
			l := &EchoFilter{Line: raw}
			if _, err := l.Write([]byte(c.send)); err != nil {
				t.Fatal(err)
			}
			raw.in = append(raw.in[:len(raw.in)-c.lose], c.heard...)
			var got []byte
			for {
				p := make([]byte, size)
				n, err := l.Read(p, time.Millisecond)
				got = append(got, p[:n]...)
				if err != nil {
					break
				}
			}
			if !bytes.Equal(got, []byte(c.want)) {
				t.Errorf("%s, %d bytes at a time: got %q, want %q", c.name, size, got, c.want)
			}
			if raw.now > time.Millisecond {
				t.Errorf("%s: waited %v, want the timeout at most once", c.name, raw.now)
			}
		}
	}
}

func TestAlarmNames(t *testing.T) {
	if got := (AlarmHeat | AlarmOverload).String(); got != "heat, overload" {
		t.Errorf("got %q", got)
	}
	if got := Alarm(0).String(); got != "none" {
		t.Errorf("got %q", got)
	}
}

// A line in memory is opened in the cycle that wants it, and is there in the next, on every run.
func TestReopeningInline(t *testing.T) {
	tries, want := 0, &echoing{}
	r := Reconnector{Bus: "bench", Inline: true, Open: func() (Line, error) {
		if tries++; tries == 1 {
			return nil, ErrDisconnected
		}
		return want, nil
	}}
	r.Lose(ErrDisconnected)
	cycles := 1
	for ; ; cycles++ {
		line := r.Attend()
		if cycles == 1 && tries != 1 {
			t.Errorf("the first cycle: got %d tries, want one", tries)
		}
		if line != nil {
			if line != want {
				t.Errorf("got another line")
			}
			break
		}
	}
	// The try, its end, the pause, the second try, its end.
	if cycles != FirstPause+3 || tries != 2 {
		t.Errorf("got the line in cycle %d after %d tries, want %d after 2", cycles, tries, FirstPause+3)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Health is read at most every fifth cycle, and not more often than its values change.
func TestLooks(t *testing.T) {
	for _, c := range []struct {
		period time.Duration
		want   int
	}{{0, 5}, {-time.Second, 5}, {20 * time.Millisecond, 5}, {10 * time.Millisecond, 5}, {7 * time.Millisecond, 8},
		{time.Millisecond, 50}} {
		if got := healthInterval(c.period); got != c.want {
			t.Errorf("period %v: got %d cycles, want %d", c.period, got, c.want)
		}
	}
}
