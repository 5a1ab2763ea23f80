package commission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// RegisterFile is the registers of one servo as setup and "registers dump" save them and diff and restore read them.
type RegisterFile struct {
	Model     string           `json:"model"`
	Type      string           `json:"type"` // of the bus that it is connected to
	ID        int              `json:"id"`
	Baud      int              `json:"baud"`
	Registers map[string]int64 `json:"registers"` // raw, by name
}

// mostRegisterFile bounds what is read: the longest table makes 4 KiB.
const mostRegisterFile = 1 << 16

// Save writes the file, whole or not at all; never over an older one, which may be the only one of a servo that works.
func (f *RegisterFile) Save(path string) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "save registers", Err: err, Try: "another name"}
	}
	if err = errors.Join(f.Encode(out), out.Sync(), out.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

func (f *RegisterFile) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// LoadRegisters reads a file that save wrote.
func LoadRegisters(buses catalog.Buses, path string) (*RegisterFile, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: "read registers", Err: err,
			Try: "halyard registers dump PORT --id N " + path}
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, mostRegisterFile+1))
	if err != nil {
		return nil, err
	}
	f, err := ParseRegisters(buses, data)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: path, Err: err}
	}
	return f, nil
}

// ServoModel is that of the servo, nil where it is not known here.
func (f *RegisterFile) ServoModel(buses catalog.Buses) servo.Model {
	t := buses.Of(f.Type)
	if m := t.Lookup(f.Model); m != nil {
		return m
	}
	if t.Unnamed != nil && t.Unnamed.Units().Name == f.Model {
		return t.Unnamed
	}
	return buses.Model(f.Model)
}

// ParseRegisters is strict: nothing unknown is written to a servo. Every register must be one of the model's.
func ParseRegisters(buses catalog.Buses, data []byte) (*RegisterFile, error) {
	if len(data) > mostRegisterFile {
		return nil, fmt.Errorf("got more than %d bytes, want registers of one servo", mostRegisterFile)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	f := &RegisterFile{}
	if err := d.Decode(f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("got more behind the registers, want one servo")
	}
	m := f.ServoModel(buses)
	if m == nil {
		return nil, fmt.Errorf("model: got %q, want a servo that is known here", f.Model)
	}
	for _, name := range report.SortedKeys(f.Registers) {
		if m.Register(name) == nil {
			return nil, fmt.Errorf("registers.%s: a %s has no such register", name, f.Model)
		}
	}
	return f, nil
}
