package rigtest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Stopwatch measures a time across processes on a busy machine: without the time in which each of them was ready to
// run while the machine ran others.
type Stopwatch struct {
	pids    []int
	begin   time.Time
	starved map[string]time.Duration // of each thread, at the begin
}

// NewStopwatch begins to measure what this process and others do together.
func NewStopwatch(others ...int) *Stopwatch {
	w := &Stopwatch{pids: append(others, os.Getpid()), starved: map[string]time.Duration{}}
	for _, pid := range w.pids {
		for thread, t := range starved(pid) {
			w.starved[thread] = t
		}
	}
	w.begin = time.Now()
	return w
}

// Time is the time since the begin, at least 1 ns. Of each process the thread counts that waited longest.
func (w *Stopwatch) Time() time.Duration {
	passed := time.Since(w.begin)
	for _, pid := range w.pids {
		longest := time.Duration(0)
		for thread, t := range starved(pid) {
			longest = max(longest, t-w.starved[thread])
		}
		passed -= longest
	}
	return max(1, passed)
}

// starved is how long each thread of a process was ready to run and did not, so far. It is empty where the process has
// ended, or the system does not count it.
func starved(pid int) map[string]time.Duration {
	all := map[string]time.Duration{}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range threads {
		var ran, waited time.Duration
		if text, err := os.ReadFile(path); err == nil {
			fmt.Sscan(string(text), &ran, &waited)
			all[path] = waited
		}
	}
	return all
}
