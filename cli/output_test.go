package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// both is a terminal: stdout and stderr of one screen, whose stderr is slow.
type both struct{ *strings.Builder }

type slow struct{ to both }

func (s slow) Write(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.to.Write(p)
}

// Notes stand before the table that they are about, not in its middle.
func TestNotesBeforeTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := both{new(strings.Builder)}
		a := &app{out: screen, format: "table"}
		a.err = a.sink.Writer(slow{screen})
		a.note("two rows")
		if err := show(a, []version{versionOf()}); err != nil {
			t.Fatal(err)
		}
		if a.sink.Flush(time.Minute); !strings.HasPrefix(screen.String(), "two rows\n") {
			t.Errorf("got %q, want the note first", screen)
		}
	})
}
