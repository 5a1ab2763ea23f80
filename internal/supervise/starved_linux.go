package supervise

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// starved measures how long a process was ready to run while others ran, from /proc.
type starved struct {
	tasks string
	waits map[string]int64 // ns that each thread waited for a processor, as of the last call
}

func starvedOf(pid int) *starved {
	return &starved{fmt.Sprintf("/proc/%d/task/", pid), map[string]int64{}}
}

// since is how long threads waited since the last call, and whether one waits or runs now: its time is not counted yet.
// All of them together: a cycle goes through several, one after the other.
func (s *starved) since() (all time.Duration, ready bool) {
	list, err := os.ReadDir(s.tasks)
	if err != nil {
		return 0, false
	}
	for _, task := range list {
		stat, _ := os.ReadFile(s.tasks + task.Name() + "/stat")
		at := bytes.LastIndexByte(stat, ')') // a thread's name may hold anything
		ready = ready || at >= 0 && bytes.HasPrefix(stat[at:], []byte(") R"))
		text, _ := os.ReadFile(s.tasks + task.Name() + "/schedstat") // ns run, ns waited, times
		fields := bytes.Fields(text)
		if len(fields) < 2 {
			continue
		}
		wait, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		if before, known := s.waits[task.Name()]; known {
			all += time.Duration(wait - before)
		}
		s.waits[task.Name()] = wait
	}
	return all, ready
}
