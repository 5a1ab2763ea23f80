package chaos

import (
	"errors"
	"sync"
)

// output is what the log is written to. It can be made to fail as a full disk or a closed pipe does, and to block as a
// terminal does that is stopped.
type output struct {
	mu      sync.Mutex
	how     string
	blocked chan struct{} // closed when writers may go on
}

// Ways in which an output fails.
const (
	wellOutput    = "well"
	fullOutput    = "full"
	closedOutput  = "closed"
	blockedOutput = "blocked"
	unreadOutput  = "unread" // the log is well, and a recorder takes nothing
)

var (
	errFull   = errors.New("no space left on device")
	errClosed = errors.New("broken pipe")
)

// set makes it be so from now on.
func (o *output) set(how string) {
	o.free()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.how = how; how == blockedOutput {
		o.blocked = make(chan struct{})
	}
}

// free lets writers go on that are blocked.
func (o *output) free() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.blocked != nil {
		close(o.blocked)
		o.blocked = nil
	}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	how, blocked := o.how, o.blocked
	o.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	switch how {
	case fullOutput:
		return 0, errFull
	case closedOutput:
		return 0, errClosed
	}
	return len(p), nil
}
