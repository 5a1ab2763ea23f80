package catalog

import (
	"fmt"

	"github.com/halyard-robotics/halyard/configs"
)

// Likely is the Fix of a mistyped name, "" where nothing in list is near.
func Likely(name string, list []string) string { return LikelyOr(name, list, "") }

// LikelyOr is likely, or else where nothing is near.
func LikelyOr(name string, list []string, otherwise string) string {
	if c := configs.Closest(name, list); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return otherwise
}
