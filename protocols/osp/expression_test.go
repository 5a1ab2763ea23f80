package osp

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestLargeExpression: an expression that would keep a core busy for long finds no value. Those that clients use find
// theirs.
func TestLargeExpression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		s.play(registered)
		ask := func(text string) (found int) {
			a := s.wire("a")
			a.conn.WriteToUDPAddrPort(Append(nil, &Datagram{Command: getValueIDs, Name: text}), a.to)
			synctest.Wait()
			for b := a.next(); b != nil; b = a.next() {
				found++
			}
			return found - 1 // the first has their number
		}
		for _, text := range []string{".*", "/Control/.*", "/Control/CurrentStep",
			"/pendulum/hinge/[a-z]{3,20}(_goal)?", "(/[A-Za-z]+){2,3}"} {
			if ask(text) < 1 {
				t.Errorf("%s: found no value", text)
			}
		}
		for _, text := range []string{strings.Repeat("(.?){1000}", 25), strings.Repeat("((.?){30}){30}", 18),
			strings.Repeat(".{0,999}", 31), "(", strings.Repeat("a", maxExpression+1)} {
			if n := ask(text); n != 0 {
				t.Errorf("%.20s...: found %d values, want it refused", text, n)
			}
		}
	})
}
