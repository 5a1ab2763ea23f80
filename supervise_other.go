//go:build !unix

package halyard

import "errors"

// Supervise is the supervisor's process; not supported on this system.
func Supervise() error { return errors.ErrUnsupported }

func (s *System) supervise() (end func(), err error) { return func() {}, nil }
