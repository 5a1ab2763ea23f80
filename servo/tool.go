package servo

// Find returns the first of list that is what is asked for, nil where none is.
func Find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}
