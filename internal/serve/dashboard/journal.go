package dashboard

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// journalSize is how many entries a Journal keeps.
const journalSize = 500

// mergeTime is how soon the same entry again is counted instead of listed.
const mergeTime = 2 * time.Second

// Entry is one event or line of the log.
type Entry struct {
	ID    uint64    `json:"id"`
	Time  time.Time `json:"time"` // of the last time
	Level string    `json:"level"`
	Text  string    `json:"text"`
	Count int       `json:"count"`

	changed uint64
}

// Journal keeps the newest events of rigs and lines of their logs for the pages. All methods may be called from any
// goroutine; each holds its lock for microseconds.
type Journal struct {
	mu           sync.Mutex
	entries      []Entry // oldest first
	ids, changes uint64
	forward      *Journal // gets each entry too; nil = none
}

// tap copies the entries of j, present and future, to the journal to.
func (j *Journal) tap(to *Journal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		to.Add(e.Level, e.Text)
	}
	j.forward = to
}

// Add notes text.
func (j *Journal) Add(level, text string) {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.forward != nil {
		j.forward.Add(level, text)
	}
	j.changes++
	for i := len(j.entries) - 1; i >= 0 && i >= len(j.entries)-16; i-- {
		if e := &j.entries[i]; e.Text == text && now.Sub(e.Time) < mergeTime {
			e.Time, e.changed = now, j.changes
			e.Count++
			return
		}
	}
	j.ids++
	if len(j.entries) >= journalSize {
		j.entries = append(j.entries[:0], j.entries[1:]...)
	}
	j.entries = append(j.entries, Entry{ID: j.ids, Time: now, Level: level, Text: text, Count: 1, changed: j.changes})
}

// since returns the entries changed after the change number seen, and the newest change number.
func (j *Journal) since(seen uint64) (list []Entry, now uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changes == seen {
		return nil, seen
	}
	for _, e := range j.entries {
		if e.changed > seen {
			list = append(list, e)
		}
	}
	return list, j.changes
}

// Handler returns a slog.Handler that passes each record to next and stores those from Info on.
func (j *Journal) Handler(next slog.Handler) slog.Handler { return &handler{journal: j, next: next} }

type handler struct {
	journal *Journal
	next    slog.Handler
	attrs   string
}

func (h *handler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.next.Enabled(ctx, l)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		var text strings.Builder
		text.WriteString(r.Message + h.attrs)
		r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&text, " %s=%v", a.Key, a.Value); return true })
		h.journal.Add(strings.ToLower(r.Level.String()), text.String())
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

func (h *handler) WithAttrs(list []slog.Attr) slog.Handler {
	more := *h
	for _, a := range list {
		more.attrs += fmt.Sprintf(" %s=%v", a.Key, a.Value)
	}
	more.next = h.next.WithAttrs(list)
	return &more
}

func (h *handler) WithGroup(name string) slog.Handler {
	more := *h
	more.next = h.next.WithGroup(name)
	return &more
}
