//go:build lockcheck

package hal

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// The locks of a test build end the process on a wrong order, on code of others under a short lock, and on a short lock
// that is held for long.

const locksChecked = true

// A goroutine takes locks in rising rank only.
const (
	turnRank = iota + 1
	agentRank
	leafRank
)

// longestHold is longer than any copy takes on a busy machine.
const longestHold = 5 * time.Second

type (
	turnLock  struct{ rankedLock }
	agentLock struct{ rankedLock }
	leafLock  struct{ rankedLock }
)

func (l *turnLock) Lock()  { l.lock(turnRank) }
func (l *agentLock) Lock() { l.lock(agentRank) }
func (l *leafLock) Lock()  { l.lock(leafRank) }

// holders are the locks that each goroutine holds, by its number.
var holders = struct {
	sync.Mutex
	of map[int][]*rankedLock
}{of: map[int][]*rankedLock{}}

type rankedLock struct {
	mu    sync.Mutex
	rank  int       // while it is held
	since time.Time // likewise
}

func (l *rankedLock) lock(rank int) {
	self := goroutine()
	holders.Lock()
	for _, held := range holders.of[self] {
		if held.rank >= rank {
			failLock("a lock of rank %d is taken under one of rank %d", rank, held.rank)
		}
	}
	holders.Unlock()
	l.mu.Lock()
	holders.Lock()
	defer holders.Unlock()
	l.rank, l.since = rank, time.Now()
	holders.of[self] = append(holders.of[self], l)
}

// Unlock is called by the goroutine that has locked it.
func (l *rankedLock) Unlock() {
	self := goroutine()
	holders.Lock()
	if d := time.Since(l.since); l.rank > turnRank && d > longestHold {
		failLock("a lock of rank %d was held for %v", l.rank, d)
	}
	list := holders.of[self]
	at := len(list) - 1
	for at >= 0 && list[at] != l {
		at--
	}
	if at < 0 {
		failLock("a lock of rank %d is unlocked by another goroutine", l.rank)
	}
	if list = append(list[:at], list[at+1:]...); len(list) == 0 {
		delete(holders.of, self)
	} else {
		holders.of[self] = list
	}
	holders.Unlock()
	l.mu.Unlock()
}

func callOut(what string) {
	holders.Lock()
	defer holders.Unlock()
	for _, held := range holders.of[goroutine()] {
		if held.rank > turnRank {
			failLock("%s is called under a lock of rank %d", what, held.rank)
		}
	}
}

// failLock ends the process: a panic in a cycle would be taken for one of a body.
func failLock(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "lockcheck: "+format+"\n%s\n", append(args, debug.Stack())...)
	os.Exit(3)
}

// goroutine is the number of the calling goroutine, from its stack's first line.
func goroutine() int {
	var b [40]byte
	text := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.Atoi(string(number))
	if err != nil {
		failLock("goroutine: got %q", text)
	}
	return n
}
