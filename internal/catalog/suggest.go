package catalog

import (
	"cmp"

	"github.com/halyard-robotics/halyard/configs"
)

// Likely returns the fix of a mistyped name, "" if no word in list is similar.
func Likely(name string, list []string) string { return configs.Meant(name, list) }

// LikelyOr is Likely, or otherwise if no word is similar.
func LikelyOr(name string, list []string, otherwise string) string {
	return cmp.Or(configs.Meant(name, list), otherwise)
}
