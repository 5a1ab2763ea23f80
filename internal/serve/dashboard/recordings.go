package dashboard

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/ws"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/report"
)

const (
	maxRecordings = 200              // that are listed, the newest
	matchTime     = 20 * time.Second // for comparing two
	readTime      = 60 * time.Second // for reading one
	growing       = 2 * time.Second  // since it was written to
)

type (
	recordingText struct {
		Name     string    `json:"name"`
		Bytes    int64     `json:"bytes"`
		Modified time.Time `json:"modified"`
		Growing  bool      `json:"growing"` // it is being written
	}
	// surveyText is a recording; Values are float32, little-endian, all times of one channel after another, base64.
	surveyText struct {
		Name      string        `json:"name"`
		Rig       string        `json:"rig"`
		Version   string        `json:"version"`
		Clock     string        `json:"clock"`
		Period    report.Number `json:"period_s"`
		Seed      int64         `json:"seed"`
		Started   time.Time     `json:"started"`
		First     uint64        `json:"first_cycle"`
		Cycles    uint64        `json:"cycles"`
		Dropped   uint64        `json:"dropped_cycles"`
		Orders    uint64        `json:"lost_orders"`
		Cut       string        `json:"cut"`
		Every     uint64        `json:"every"`
		Attached  []string      `json:"attached"`
		Channels  []string      `json:"channels"`
		Times     []float64     `json:"times"`
		Values    string        `json:"values"`
		Marks     []record.Mark `json:"marks"`
		MoreMarks bool          `json:"more_marks"`
	}
	matchText struct {
		Cycles    uint64     `json:"cycles"`
		Different uint64     `json:"different"`
		Offset    int64      `json:"offset_cycles"`
		Ended     string     `json:"ended"`
		Rows      []matchRow `json:"rows"`
	}
	matchRow struct {
		record.Divergence
		RMS report.Number `json:"rms"`
	}
)

// listRecordings answers with the recordings in the folder, the newest first.
func (s *Server) listRecordings(w http.ResponseWriter) {
	out := struct {
		Folder string          `json:"folder"`
		List   []recordingText `json:"list"`
	}{s.recordings, []recordingText{}}
	if whole, err := filepath.Abs(s.recordings); err == nil {
		out.Folder = whole
	}
	entries, err := os.ReadDir(s.recordings)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(e.Name()) != ".mcap" {
			continue
		}
		out.List = append(out.List, recordingText{e.Name(), info.Size(), info.ModTime(),
			time.Since(info.ModTime()) < growing})
	}
	slices.SortFunc(out.List, func(a, b recordingText) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Name, b.Name))
	})
	out.List = out.List[:min(len(out.List), maxRecordings)]
	reply(w, http.StatusOK, out)
}

// openRecording opens one of the folder. The reader is of as much as it holds now: one that is being written is read to
// there.
func (s *Server) openRecording(name string) (*record.Reader, func(), error) {
	if filepath.Base(name) != name || filepath.Ext(name) != ".mcap" || strings.ContainsAny(name, "/\\\x00") {
		return nil, nil, fmt.Errorf("recording: got name %.80q, want a name of the list", name)
	}
	root, err := os.OpenRoot(s.recordings) // a link leads nowhere else
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("recording: got name %.80q, want a name of the list", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	file, err := record.NewReader(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return file, func() { file.Close(); f.Close() }, nil
}

// readRecordings answers with a survey of one recording, or the differences of two. Only one request runs at a time,
// concurrently with the robots' cycles. A client that does not read its answer keeps no other one waiting.
func (s *Server) readRecordings(w http.ResponseWriter, r *http.Request) {
	select {
	case s.reading <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	out, err := s.readOne(r)
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ws.AnswerTimeout)) // reading may have taken longer
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	reply(w, http.StatusOK, out)
}

// readOne does what a request asks for, and gives its turn back.
func (s *Server) readOne(r *http.Request) (out any, err error) {
	defer func() { <-s.reading }()
	if q := r.URL.Query(); r.URL.Path == "/recording" {
		out, err = s.survey(r.Context(), q.Get("name"))
	} else {
		out, err = s.match(r.Context(), q.Get("a"), q.Get("b"))
	}
	return out, err
}

func (s *Server) survey(ctx context.Context, name string) (*surveyText, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	file, end, err := s.openRecording(name)
	if err != nil {
		return nil, err
	}
	defer end()
	v, err := record.NewSurvey(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("read recording %s: %w", name, err)
	}
	t := &surveyText{Name: name, Rig: v.Info.Rig, Version: v.Info.Version, Clock: v.Info.Clock,
		Period: report.Number(v.Info.Period.Seconds()), Seed: v.Info.Seed,
		Started: v.Info.Started, First: v.Info.First, Cycles: v.Cycles, Dropped: v.Dropped, Orders: v.Orders,
		Cut: v.Cut, Every: v.Every, Attached: []string{},
		Channels: v.Channels, Times: v.Times, Marks: v.Marks, MoreMarks: v.MoreMarks}
	for _, f := range v.Info.Attached {
		t.Attached = append(t.Attached, f.Name)
	}
	var b []byte
	for _, row := range v.Values {
		for _, x := range row {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	t.Values = base64.StdEncoding.EncodeToString(b)
	return t, nil
}

func (s *Server) match(ctx context.Context, first, second string) (*matchText, error) {
	ctx, cancel := context.WithTimeout(ctx, matchTime)
	defer cancel()
	a, end, err := s.openRecording(first)
	if err != nil {
		return nil, err
	}
	defer end()
	b, end, err := s.openRecording(second)
	if err != nil {
		return nil, err
	}
	defer end()
	m, err := record.NewMatch(ctx, a, b)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", first, second, err)
	}
	t := &matchText{Cycles: m.Cycles, Different: m.Different, Offset: m.Offset, Ended: m.Ended, Rows: []matchRow{}}
	for _, d := range m.Rows() {
		t.Rows = append(t.Rows, matchRow{d, report.Number(m.RMS(&d))})
	}
	return t, nil
}
