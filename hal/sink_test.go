package hal

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSinkBlocked: a blocked writer does not delay callers; writes that do not fit are dropped, counted and reported.
func TestSinkBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		var s Sink
		log := slog.New(s.Handler(slog.NewTextHandler(write, nil))).With("rig", "demo")
		for k := range sinkSize + 10 {
			log.Warn(fmt.Sprint("entry ", k))
		}
		if s.Flush(time.Second) {
			t.Error("flush of a blocked writer: got true, want false")
		}
		if n := s.Dropped(); n == 0 || n > 10 {
			t.Errorf("dropped: got %d, want 9 or 10", n)
		}
		var out bytes.Buffer
		done := make(chan struct{})
		go func() { io.Copy(&out, read); close(done) }()
		synctest.Wait()
		fmt.Fprintln(s.Writer(write), "last")
		if !s.Flush(time.Second) {
			t.Error("flush of a writer that is read: got false, want true")
		}
		write.Close()
		<-done
		text := out.String()
		if !strings.Contains(text, "rig=demo") || !strings.Contains(text, "dropped") ||
			!strings.HasSuffix(text, "last\n") {
			t.Errorf("written: got %q, want the attributes, the drops and the last line", text[max(0, len(text)-200):])
		}
		if first, second := strings.Index(text, "entry 0"), strings.Index(text, "entry 1\""); first < 0 ||
			second < first {
			t.Error("order: entries are not written in the order they came")
		}
	})
}
