package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// The bounds of a Survey: what a browser can hold.
const (
	maxSurvey  = 1 << 20 // values
	maxSamples = 2000    // cycles
	maxMarks   = 1000
)

// Mark is something that happened in a recording.
type Mark struct {
	Time float64 `json:"time"` // rig time, s
	Text string  `json:"text"`
}

// Survey is a recording reduced for display: the numbers of all agents in cycles at equal distances.
type Survey struct {
	Info      Info
	Cycles    uint64 // in the file
	Dropped   uint64 // that the recorder could not write
	Orders    uint64 // lost
	Cut       string // why the file ends early; "" of a whole one
	Every     uint64 // cycles from one sample to the next
	MoreMarks bool   // than Marks holds

	Channels []string    // AGENT/measured.elbow.position, AGENT/inputs.elbow.position, sorted
	Times    []float64   // rig time of each sample, s
	Values   [][]float32 // of each channel, as many as Times; NaN = not known
	Marks    []Mark      // guards that changed, orders of persons, oldest first
}

// survey is one under way.
type survey struct {
	Survey
	rows   map[string][]float32
	guards map[string]string
	states map[string][]byte // of the cycle under way, by topic
	time   float64
}

// NewSurvey reads file to its end. It holds at most maxSamples samples and maxSurvey values, however long the file is.
// The error is that of ctx, or of a message that is not one of a recording.
func NewSurvey(ctx context.Context, file *Reader) (*Survey, error) {
	s := &survey{Survey: Survey{Info: file.Info, Every: 1}, rows: map[string][]float32{}, guards: map[string]string{},
		states: map[string][]byte{}}
	for {
		m, err := file.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = s.message(m)
		}
		if err != nil {
			return nil, err
		}
	}
	if file.Cut != nil {
		s.Cut = file.Cut.Error()
	}
	s.Channels = slices.AppendSeq(make([]string, 0, len(s.rows)), maps.Keys(s.rows))
	slices.Sort(s.Channels)
	for _, name := range s.Channels {
		s.Values = append(s.Values, s.rows[name])
	}
	return &s.Survey, nil
}

func (s *survey) message(m Message) error {
	switch TopicOf(m.Topic) {
	case StateTopic:
		if s.Cycles%s.Every == 0 {
			s.states[m.Topic] = bytes.Clone(m.Data)
		}
		agent := agentOf(m.Topic)
		if guard := guardIn(m.Data); guard != s.guards[agent] {
			s.mark(agent + " " + guard)
			s.guards[agent] = guard
		}
	case OrderTopic:
		if text := orderMark(m.Data); text != "" {
			s.mark(text)
		}
	case CycleTopic:
		c, err := ParseCycle(m.Data)
		if err != nil {
			return err
		}
		s.time, s.Dropped, s.Orders = c.Time, c.Dropped, c.LostOrders
		if s.Cycles%s.Every == 0 {
			if err := s.sample(); err != nil {
				return err
			}
		}
		s.Cycles++
	}
	return nil
}

// mark notes what happened in the cycle under way.
func (s *survey) mark(text string) {
	if len(s.Marks) >= maxMarks {
		s.MoreMarks = true
		return
	}
	s.Marks = append(s.Marks, Mark{s.time, text})
}

// sample takes the states of this cycle.
func (s *survey) sample() error {
	n := len(s.Times)
	s.Times = append(s.Times, s.time)
	for topic, data := range s.states {
		flat, err := flatten(data)
		if err != nil {
			return err
		}
		agent := agentOf(topic)
		for key, text := range flat {
			if !strings.HasPrefix(key, "measured.") && !strings.HasPrefix(key, "inputs.") {
				continue
			}
			name := agent + "/" + key
			row, known := s.rows[name]
			if !known && (len(s.rows)+1)*16 > maxSurvey {
				continue // a file with more channels than any robot has
			}
			for len(row) < n { // of one that has joined, or was away
				row = append(row, float32(math.NaN()))
			}
			v, err := strconv.ParseFloat(text, 32)
			if err != nil {
				v = math.NaN()
			}
			s.rows[name] = append(row, float32(v))
		}
	}
	clear(s.states)
	for name, row := range s.rows {
		if len(row) <= n {
			s.rows[name] = append(row, float32(math.NaN()))
		}
	}
	for len(s.Times) >= maxSamples || len(s.Times)*len(s.rows) > maxSurvey {
		s.Every *= 2
		s.Times = halve(s.Times)
		for name, row := range s.rows {
			s.rows[name] = halve(row)
		}
	}
	return nil
}

// halve keeps every second one.
func halve[T any](list []T) []T {
	kept := list[:0]
	for i := 0; i < len(list); i += 2 {
		kept = append(kept, list[i])
	}
	return kept
}

func agentOf(topic string) string {
	return strings.TrimSuffix(strings.TrimPrefix(topic, "/"), stateSuffix)
}

// guardIn is the guard of a state, read without the rest.
func guardIn(state []byte) string {
	_, rest, _ := bytes.Cut(state, []byte(`"guard":"`))
	word, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(word[:min(len(word), 32)])
}

// orderMark is an order that a person or a fault gave, in words; "" of a client's commands.
func orderMark(text []byte) string {
	var o struct {
		Kind  string `json:"kind"`
		Agent string `json:"agent"`
		Name  string `json:"name"`
	}
	if json.Unmarshal(text, &o) != nil {
		return ""
	}
	switch kind, ok := hal.OrderNamed(o.Kind); {
	case ok && kind <= hal.ReleaseOrder, kind == hal.SetOrder, kind == hal.LatchOrder:
		return ""
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%.32s %.64s %.200s", strings.ReplaceAll(o.Kind, "_", " "), o.Agent,
		o.Name)), " ")
}
