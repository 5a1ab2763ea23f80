package servo

// Find returns the first element of list for which is is true, nil if there is none.
func Find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}
