package player

import (
	"fmt"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/player"
)

// TestSightings: a tag stays for a second after its last reading, however often it is listed; what has become nothing
// goes at once.
func TestSightings(t *testing.T) {
	q := &sightings{}
	see := func(now time.Duration, want string) {
		t.Helper()
		got := ""
		for _, tag := range q.list(now) {
			got += fmt.Sprint(tag.Number, " ")
		}
		if got != want {
			t.Errorf("at %v: got %q, want %q", now, got, want)
		}
	}
	q.put(1, &player.Tag{Number: unidentified})
	q.put(2, &player.Tag{Number: 2})
	see(time.Second, "-1 2 ")
	q.put(1, &player.Tag{Number: 1}) // nearer, it is known
	see(1900*time.Millisecond, "2 1 ")
	q.put(2, nil) // a false alarm
	see(2500*time.Millisecond, "1 ")
	see(3*time.Second, "")
	for i := range 2 * maxSightings {
		q.put(i, &player.Tag{Number: i})
	}
	if n := len(q.list(4 * time.Second)); n != maxSightings {
		t.Errorf("got %d tags, want %d", n, maxSightings)
	}
	see(0, "") // the clock was set back
}
