//go:build !(linux && (amd64 || arm64 || arm || 386 || riscv64 || loong64))

package camera

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
)

// OpenNode answers that this system has no V4L2 that is known here.
func OpenNode(path string) (Node, error) {
	return nil, &hal.Error{Kind: hal.Absent, Bus: path, Op: "open",
		Err: errors.New("cameras: want Linux on amd64, arm64, arm, 386, riscv64 or loong64")}
}
