package gamebots

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"
)

// TestNamesStayFew: clients without a name for their robots come and go; the rig's values do not grow with each of
// them.
func TestNamesStayFew(t *testing.T) {
	bubble(t, config{change: plain}, func(s *stage) {
		count := func() int { return len(s.rig.Values().Find(regexp.MustCompile(".*"))) }
		first := 0
		for i := range 20 {
			s.play("a> INIT {ClassName P2AT}")
			s.receive("a") // NFO
			s.receive("a") // STA: the robot exists
			s.conns["a"].Close()
			s.hang("a")
			time.Sleep(2 * time.Second) // it leaves the rig
			synctest.Wait()
			if n := count(); i == 0 {
				first = n
			} else if n != first {
				t.Fatalf("client %d: got %d values, want %d", i+1, n, first)
			}
		}
	})
}
