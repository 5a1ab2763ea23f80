package commission

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WalkRow is what became of one joint's servo.
type WalkRow struct {
	Joint string `json:"joint"`
	State string `json:"state"` // one of the words below
	File  string `json:"file"`  // of its registers before the change; "" = none
	Assignment
}

// The states of a walkRow.
const (
	WalkSet       = "set up"
	WalkUnchanged = "unchanged"
	WalkSkipped   = "skipped"
	WalkDry       = "dry run"
)

func (WalkRow) Header() []string {
	return []string{"joint", "model", "id", "baud", "state", "registers"}
}

func (r WalkRow) Cells() []string {
	file := r.File
	if file == "" {
		file = "-"
	}
	return []string{r.Joint, r.Model, strconv.Itoa(r.ID), strconv.Itoa(r.Baud), r.State, file}
}

// FreeName is the name of a register file that is not there yet.
func FreeName(folder, joint string) string {
	joint = strings.ReplaceAll(joint, "/", "-")
	for n := 1; ; n++ {
		name := joint + ".json"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.json", joint, n)
		}
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err != nil { // saving reports other errors
			return path
		}
	}
}
