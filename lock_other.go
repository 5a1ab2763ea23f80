//go:build !unix

package halyard

import "os"

// lockFolder opens the folder without a lock: this system has no pseudo-terminals to link to.
func lockFolder(_, dir string) (*os.File, error) { return os.Open(dir) }
