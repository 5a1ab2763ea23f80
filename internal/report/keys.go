package report

import (
	"maps"
	"slices"
)

// SortedKeys are the keys of m in order.
func SortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
