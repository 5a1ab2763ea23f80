package record

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The times of a ring, besides its span.
const (
	aftermath = time.Second      // time after an event that is kept with it
	saveEvery = 10 * time.Second // at most one file is kept in
)

// Ring is a recording of which the last span is always kept: two files, each of a span, the older in NAME-before. An
// event, a stop or a fault, keeps both for good, as NAME-saved-TIME-before and NAME-saved-TIME.
type Ring struct {
	name    string
	span    time.Duration // rig time
	wall    func() time.Time
	file    *os.File
	begun   time.Duration // rig time of the file's first cycle
	saved   time.Duration // rig time of the last event that was kept
	pending time.Duration // rig time of an event that is not saved yet; < 0 = none
	Saved   []string      // files that were kept
}

// NewRing begins a ring at name. It overwrites the files of an earlier ring, except saved ones.
func NewRing(name string, span time.Duration) (*Ring, error) {
	r := &Ring{name: name, span: span, wall: time.Now, pending: -1, saved: -saveEvery}
	return r, r.open()
}

func (r *Ring) open() (err error) {
	r.file, err = os.OpenFile(r.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	return err
}

// suffixed returns the ring's name with a suffix before its extension.
func (r *Ring) suffixed(suffix string) string {
	ext := filepath.Ext(r.name)
	return strings.TrimSuffix(r.name, ext) + suffix + ext
}

// Write implements io.Writer: into the newest file.
func (r *Ring) Write(p []byte) (int, error) { return r.file.Write(p) }

// Close closes the newest file, which stays; one with an event is kept first.
func (r *Ring) Close() error {
	err := r.file.Close()
	if err == nil && r.pending >= 0 {
		err = r.keep()
	}
	return err
}

// event receives the events of the cycle at rig time now.
func (r *Ring) event(now time.Duration, name string) {
	if r.pending < 0 && now-r.saved >= saveEvery &&
		(name == "/Control/EmergencyStop" || strings.HasSuffix(name, "/Fault")) {
		r.pending = now
	}
}

// due reports whether a cycle at rig time now belongs to the next file.
func (r *Ring) due(now time.Duration) bool {
	return now-r.begun >= r.span || r.pending >= 0 && now-r.pending >= aftermath
}

// turn begins the next file, whose first cycle is at rig time now. The previous file is complete.
func (r *Ring) turn(now time.Duration) error {
	if err := r.file.Close(); err != nil {
		return err
	}
	if r.pending >= 0 {
		if err := r.keep(); err != nil {
			return err
		}
	} else if err := os.Rename(r.name, r.suffixed("-before")); err != nil {
		return err
	}
	r.begun = now
	return r.open()
}

// keep keeps both files for good.
func (r *Ring) keep() error {
	stamp := "-saved-" + r.wall().UTC().Format("20060102-150405.000")
	for _, f := range [][2]string{{r.suffixed("-before"), r.suffixed(stamp + "-before")}, {r.name, r.suffixed(stamp)}} {
		switch err := os.Rename(f[0], f[1]); {
		case err == nil:
			r.Saved = append(r.Saved, f[1])
		case !os.IsNotExist(err):
			return err
		}
	}
	r.saved, r.pending = r.pending, -1
	return nil
}
