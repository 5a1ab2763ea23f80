package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/report"
)

// The bounds of a report that is read.
const (
	maxEntries = 400
	maxEntry   = 32 << 20 // bytes, unpacked
	maxReport  = 96 << 20 // bytes, unpacked, and of the file
)

// format is the number of the layout of reports.
const format = 1

// Report is a robot as it was met.
type Report struct {
	About
	Findings  []doctor.Finding
	Config    []byte                              // the document
	Files     map[string][]byte                   // that it names, by path in its folder
	Registers map[string]*commission.RegisterFile // by bus, kind and id: "arm.real-3"
	Wire      map[string][]Exchange               // by bus and kind: "arm.real"
	Log       []byte
	Status    []byte // of the running rig, JSON; nil = none ran
}

// About is the head of a report, report.json.
type About struct {
	Format   int                           `json:"format"`
	Version  string                        `json:"version"`
	Platform string                        `json:"platform"`
	Source   string                        `json:"config"` // its file's name, or that of an embedded config
	Body     string                        `json:"body,omitempty"`
	Set      []string                      `json:"set,omitempty"`
	Absent   []string                      `json:"absent,omitempty"` // files that could not be read
	Buses    map[string]doctor.RecordedBus `json:"buses"`
	Exit     int                           `json:"exit"`   // of the doctor
	Masked   map[string]int                `json:"masked"` // how often each kind of name was left out
}

// Entry is a file of a report.
type Entry struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	What  string `json:"what"`
	data  []byte
}

// Cells implements report.Row.
func (e Entry) Cells() report.Cells {
	return report.Cells{{"file", e.Name}, {"bytes", e.Bytes}, {"what", e.What}}
}

// The names of a report's files; those of folders begin with the last four.
const (
	aboutName    = "report.json"
	findingsName = "findings.json"
	configName   = "config.yaml"
	logName      = "log.txt"
	statusName   = "status.json"
	filesFolder  = "files/"
	wireFolder   = "wire/"
	tableFolder  = "registers/"
)

// Entries are the files of r as they will be written.
func (r *Report) Entries() ([]Entry, error) {
	list := []Entry{{What: "version, options, what was masked", Name: aboutName}, {What: "of the doctor",
		Name: findingsName}, {What: "the config", Name: configName, data: r.Config}}
	var err error
	if list[0].data, err = json.MarshalIndent(r.About, "", "  "); err != nil {
		return nil, err
	}
	if list[1].data, err = json.MarshalIndent(rowsOf(r.Findings), "", "  "); err != nil {
		return nil, err
	}
	for _, name := range report.SortedKeys(r.Files) {
		list = append(list, Entry{Name: filesFolder + name, What: "named by the config", data: r.Files[name]})
	}
	for _, name := range report.SortedKeys(r.Registers) {
		f := r.Registers[name]
		var b bytes.Buffer
		if err := f.Encode(&b); err != nil {
			return nil, err
		}
		list = append(list, Entry{Name: tableFolder + name + ".json",
			What: fmt.Sprintf("registers of id %d", f.ID), data: b.Bytes()})
	}
	for _, name := range report.SortedKeys(r.Wire) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for i := range r.Wire[name] {
			if err := e.Encode(&r.Wire[name][i]); err != nil {
				return nil, err
			}
		}
		list = append(list, Entry{Name: wireFolder + name + ".jsonl",
			What: fmt.Sprintf("%d requests and their answers", len(r.Wire[name])), data: b.Bytes()})
	}
	if r.Log != nil {
		list = append(list, Entry{Name: logName, What: "the log", data: r.Log})
	}
	if r.Status != nil {
		list = append(list, Entry{Name: statusName, What: "of the running rig", data: r.Status})
	}
	for i := range list {
		list[i].Bytes = len(list[i].data)
	}
	return list, nil
}

// finding is a doctor's finding with its exit code, which a row of the doctor leaves out.
type finding struct {
	doctor.Finding
	Exit int `json:"exit"`
}

func rowsOf(list []doctor.Finding) (rows []finding) {
	for _, f := range list {
		rows = append(rows, finding{f, int(f.Kind) + 1})
	}
	return rows
}

// Write writes entries as a zip file.
func Write(w io.Writer, list []Entry) error {
	z := zip.NewWriter(w)
	for _, e := range list {
		f, err := z.Create(e.Name)
		if err == nil {
			_, err = f.Write(e.data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func refused(text string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "report", Err: fmt.Errorf(text, args...), Try: "halyard report --help"}
}

// Read reads a report strictly: its input is a stranger's.
func Read(in io.ReaderAt, size int64) (*Report, error) {
	if size > maxReport {
		return nil, refused("file: got %d bytes, want at most %d", size, maxReport)
	}
	z, err := zip.NewReader(in, size)
	if err != nil {
		return nil, refused("file: got %w, want a zip file of halyard report", err)
	}
	if len(z.File) > maxEntries {
		return nil, refused("file: got %d entries, want at most %d", len(z.File), maxEntries)
	}
	r := &Report{Files: map[string][]byte{}, Wire: map[string][]Exchange{},
		Registers: map[string]*commission.RegisterFile{}}
	seen, left := map[string]bool{}, int64(maxReport)
	for _, f := range z.File {
		if seen[strings.ToLower(f.Name)] || !f.Mode().IsRegular() || !plainName(f.Name) {
			return nil, refused("entry %.80q: want a plain file in the report's folder, once", f.Name)
		}
		seen[strings.ToLower(f.Name)] = true
		data, err := unpack(f, min(left, maxEntry))
		if err != nil {
			return nil, refused("entry %.80q: %w", f.Name, err)
		}
		left -= int64(len(data))
		if err := r.take(f.Name, data); err != nil {
			return nil, refused("entry %.80q: %w", f.Name, err)
		}
	}
	if !seen[aboutName] || !seen[findingsName] || !seen[configName] {
		return nil, refused("file: want %s, %s and %s in it", aboutName, findingsName, configName)
	}
	if r.Format != format {
		return nil, refused("format: got %d, want %d", r.Format, format)
	}
	return r, nil
}

// plainName reports whether name is one that a report may have, on every system.
func plainName(name string) bool {
	return len(name) <= 200 && fs.ValidPath(name) && filepath.IsLocal(filepath.FromSlash(name)) &&
		!strings.ContainsAny(name, "\\:\x00") && path.Clean(name) == name
}

func unpack(f *zip.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New("too long")
	}
	return data, err
}

// take reads one entry.
func (r *Report) take(name string, data []byte) error {
	inside := func(folder, suffix string) (string, bool) {
		rest, ok := strings.CutPrefix(name, folder)
		rest, is := strings.CutSuffix(rest, suffix)
		return rest, ok && is && rest != ""
	}
	switch name {
	case aboutName:
		return strict(data, &r.About)
	case findingsName:
		var rows []finding
		if err := strict(data, &rows); err != nil {
			return err
		}
		for _, f := range rows {
			if f.Kind = hal.Kind(f.Exit - 1); f.Exit < 1 || f.Kind > hal.Timeout || !slices.Contains(
				[]string{doctor.StateOK, doctor.StateWarn, doctor.StateFail}, f.State) {
				return fmt.Errorf("finding: got state %.20q, exit %d", f.State, f.Exit)
			}
			r.Findings = append(r.Findings, f.Finding)
		}
		return nil
	case configName:
		r.Config = data
		return nil
	case logName:
		r.Log = data
		return nil
	case statusName:
		r.Status = data
		return nil
	}
	if file, ok := inside(filesFolder, ""); ok {
		r.Files[file] = data
		return nil
	}
	if bus, ok := inside(wireFolder, ".jsonl"); ok && !strings.Contains(bus, "/") {
		list, err := exchanges(data)
		r.Wire[bus] = list
		return err
	}
	if servo, ok := inside(tableFolder, ".json"); ok {
		f, err := commission.ParseRegisters(builtin.Catalog().Buses, data)
		r.Registers[servo] = f
		return err
	}
	return errors.New("no file of a report")
}

// exchanges reads the traffic of a line.
func exchanges(data []byte) (list []Exchange, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	for d.More() {
		var e Exchange
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		if e.At < 0 {
			e.At = 0
		}
		known := slices.Contains([]string{"", opOpen, opRate, opTx}, e.Op)
		if len(list) >= maxExchanges || !known || e.Want < 0 || e.Baud < 0 {
			return nil, fmt.Errorf("request %d: got op %.20q, want, baud %d, %d", len(list)+1, e.Op, e.Want, e.Baud)
		}
		for i, p := range e.Answer { // times go on: a line's clock never turns back
			if p.After < 0 || p.After > maxAfter || i > 0 && p.After < e.Answer[i-1].After {
				return nil, fmt.Errorf("request %d: answer after %v", len(list)+1, p.After)
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// strict decodes one JSON value that has no key but those of v.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("want one value")
	}
	return nil
}
