package catalog

import (
	"fmt"

	"github.com/halyard-robotics/halyard/configs"
)

// Likely returns the fix of a mistyped name, "" if no word in list is similar.
func Likely(name string, list []string) string { return LikelyOr(name, list, "") }

// LikelyOr is Likely, or otherwise if no word is similar.
func LikelyOr(name string, list []string, otherwise string) string {
	if c := configs.Closest(name, list); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return otherwise
}
