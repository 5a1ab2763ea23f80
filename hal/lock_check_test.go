//go:build lockcheck

package hal

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// TestLockCheck: a wrong order, code of others under a short lock and an unlock by another goroutine end the process.
func TestLockCheck(t *testing.T) {
	var turn turnLock
	var agent, other agentLock
	cases := map[string]func(){
		"order": func() { agent.Lock(); turn.Lock() },
		"twice": func() { agent.Lock(); other.Lock() },
		"call":  func() { turn.Lock(); agent.Lock(); callOut("x") },
		"unlock": func() {
			turn.Lock()
			done := make(chan struct{})
			go func() { turn.Unlock(); close(done) }()
			<-done
		},
		"good": func() { turn.Lock(); callOut("x"); agent.Lock(); agent.Unlock(); turn.Unlock() },
	}
	if f := cases[os.Getenv("HALYARD_LOCK_CASE")]; f != nil {
		f()
		return
	}
	for name := range cases {
		c := exec.Command(os.Args[0], "-test.run=^TestLockCheck$")
		c.Env = append(os.Environ(), "HALYARD_LOCK_CASE="+name)
		var ended *exec.ExitError
		if err := c.Run(); name != "good" && (!errors.As(err, &ended) || ended.ExitCode() != 3) || name == "good" &&
			err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
