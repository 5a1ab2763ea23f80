//go:build !linux

package gpio

import "errors"

// openNode fails: the character device is Linux's.
func openNode(path string) (Node, error) {
	return nil, errors.New(path + ": GPIO chips are supported only on Linux")
}

func groupOf(string) uint32 { return 0 }
