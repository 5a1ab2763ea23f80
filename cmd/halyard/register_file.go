package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/halyard-robotics/halyard/hal"
)

// registerFile is the registers of one servo as setup and "registers dump" save them and diff and restore read them.
type registerFile struct {
	Model     string           `json:"model"`
	Type      string           `json:"type"` // of the bus that it hangs on
	ID        int              `json:"id"`
	Baud      int              `json:"baud"`
	Registers map[string]int64 `json:"registers"` // raw, by name
}

// mostRegisterFile bounds what is read: the longest table makes 4 KiB.
const mostRegisterFile = 1 << 16

// save writes the file; never over an older one, which may be the only one of a servo that works.
func (f *registerFile) save(path string) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "save registers", Err: err, Try: "another name"}
	}
	return errors.Join(f.encode(out), out.Close())
}

func (f *registerFile) encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// loadRegisters reads a file that save wrote.
func loadRegisters(path string) (*registerFile, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: "read registers", Err: err, Try: "halyard registers dump PORT --id N " + path}
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, mostRegisterFile+1))
	if err != nil {
		return nil, err
	}
	f, err := parseRegisters(data)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: path, Err: err}
	}
	return f, nil
}

// model is that of the servo, nil where it is not known here.
func (f *registerFile) model() servoModel {
	if t := motorTable(f.Type, f.Model); t != nil && t.name == f.Model {
		return t
	}
	return lookupServo(f.Model)
}

// parseRegisters is strict: what it does not know, nobody should write to a servo. Every register must be one of the
// model's.
func parseRegisters(data []byte) (*registerFile, error) {
	if len(data) > mostRegisterFile {
		return nil, fmt.Errorf("got more than %d bytes, want registers of one servo", mostRegisterFile)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	f := &registerFile{}
	if err := d.Decode(f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("got more behind the registers, want one servo")
	}
	m := f.model()
	if m == nil {
		return nil, fmt.Errorf("model: got %q, want a servo that is known here", f.Model)
	}
	for _, name := range sortedKeys(f.Registers) {
		if m.Register(name) == nil {
			return nil, fmt.Errorf("registers.%s: a %s has no such register", name, f.Model)
		}
	}
	return f, nil
}
