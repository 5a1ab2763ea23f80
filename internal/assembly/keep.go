package assembly

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// keptServo is the saved EEPROM of an emulated servo. The file of a bus has one for each of its joints.
type keptServo struct {
	Joint  string           `json:"joint"` // AGENT/JOINT
	Model  string           `json:"model"`
	EEPROM map[string]int64 `json:"eeprom"`
}

// maxKept bounds a file of kept servos, bytes: some hundred servos of some hundred registers.
const maxKept = 4 << 20

// Restore loads the servos' EEPROM that Save wrote into dir, and creates dir if necessary. A servo of another model
// than the saved one keeps its factory settings.
func (w *EmulatedWorld) Restore(dir string) error {
	fault := func(err error) error { return &hal.Error{Kind: hal.Invalid, Op: "--state", Err: err} }
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault(err)
	}
	for _, b := range w.Buses {
		text, err := os.ReadFile(keptFile(dir, b.name))
		var list []keptServo
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && len(text) > maxKept:
			err = fmt.Errorf("%s: got %d bytes, want %d at most", keptFile(dir, b.name), len(text), maxKept)
		case err == nil:
			err = json.Unmarshal(text, &list)
		}
		if err != nil {
			return fault(err)
		}
		i := 0
		b.Bus.View(func(s *emulator.Servo) {
			for _, k := range list {
				if k.Joint == w.plan.JointName(b.on[i]) && k.Model == s.Name() {
					s.Keep(k.EEPROM)
				}
			}
			i++
		})
	}
	return nil
}

// Save writes the EEPROM of every servo into dir, where it has changed since written, which is by bus.
func (w *EmulatedWorld) Save(dir string, written map[string][]byte) error {
	var faults []error
	for _, b := range w.Buses {
		var list []keptServo
		b.Bus.View(func(s *emulator.Servo) {
			list = append(list, keptServo{w.plan.JointName(b.on[len(list)]), s.Name(), s.EEPROM()})
		})
		text, err := json.MarshalIndent(list, "", " ")
		if err != nil || bytes.Equal(text, written[b.name]) {
			faults = append(faults, err)
			continue
		}
		path := keptFile(dir, b.name)
		if err = os.WriteFile(path+".new", text, 0o644); err == nil {
			err = os.Rename(path+".new", path)
		}
		if faults = append(faults, err); err == nil {
			written[b.name] = text
		}
	}
	return errors.Join(faults...)
}

func keptFile(dir, bus string) string { return filepath.Join(dir, filepath.Base(bus)+".json") }
