//go:build !linux

package keys

import "errors"

// singleKeys is for Linux terminals.
func singleKeys(int) (undo func(), err error) {
	return nil, errors.New("single keys: not on this system")
}
