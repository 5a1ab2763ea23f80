package teleop

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The marks of episodes: the texts that the value EpisodeValue is set to.
const (
	MarkStart   = "start" // followed by the task; without one it is that of the episode before
	MarkSuccess = "success"
	MarkFailure = "failure"
	MarkEnd     = "end"     // without a judgement
	MarkDiscard = "discard" // of the episode that runs, or else of the last one

	EpisodeValue = "/teleop/episode"
	EngagedValue = "/teleop/engaged"
	StateValue   = "/teleop/state"
)

const (
	maxTask     = 512
	maxEpisodes = 1 << 16
)

// Episode is a part of a recording. Its cycles are From and those after it, before To.
type Episode struct {
	Task     string
	Outcome  string // MarkSuccess, MarkFailure or MarkEnd; "" = it runs
	From, To uint64
}

// Episodes are those that are kept, and the one that runs.
type Episodes struct {
	List []Episode
}

// Running is the episode that runs, nil = none.
func (e *Episodes) Running() *Episode {
	if n := len(e.List); n > 0 && e.List[n-1].Outcome == "" {
		return &e.List[n-1]
	}
	return nil
}

// Kept is how many have ended.
func (e *Episodes) Kept() int {
	if e.Running() != nil {
		return len(e.List) - 1
	}
	return len(e.List)
}

// Mark executes a mark that counts from a cycle on. A mark that does not fit changes nothing.
func (e *Episodes) Mark(text string, cycle uint64) error {
	word, task, _ := strings.Cut(text, " ")
	now := e.Running()
	switch {
	case word != MarkStart && task != "":
		return fmt.Errorf("episode: got %.60q, want %s TASK, %s, %s, %s or %s", text, MarkStart, MarkSuccess,
			MarkFailure, MarkEnd, MarkDiscard)
	case word == MarkStart && now != nil:
		return errors.New("episode: got start, want its end first: an episode runs")
	case word == MarkStart:
		return e.start(strings.TrimSpace(task), cycle)
	case word == MarkDiscard && len(e.List) == 0, word != MarkDiscard && now == nil:
		return fmt.Errorf("episode: got %.60q, want start TASK first: no episode runs", text)
	case word == MarkDiscard:
		e.List = e.List[:len(e.List)-1]
	case word == MarkSuccess || word == MarkFailure || word == MarkEnd:
		now.Outcome, now.To = word, cycle
	default:
		return fmt.Errorf("episode: got %.60q, want %s TASK, %s, %s, %s or %s", text, MarkStart, MarkSuccess,
			MarkFailure, MarkEnd, MarkDiscard)
	}
	return nil
}

func (e *Episodes) start(task string, cycle uint64) error {
	if n := len(e.List); task == "" && n > 0 {
		task = e.List[n-1].Task
	}
	switch {
	case task == "":
		return errors.New("episode: got start without a task, want start TASK")
	case len(task) > maxTask || !utf8.ValidString(task) || strings.ContainsFunc(task, unicode.IsControl):
		return fmt.Errorf("episode: got a task of %d bytes, want at most %d on one line", len(task), maxTask)
	case len(e.List) == maxEpisodes:
		return fmt.Errorf("episode: got more than %d, want another recording", maxEpisodes)
	}
	e.List = append(e.List, Episode{Task: task, From: cycle})
	return nil
}
