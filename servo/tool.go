package servo

// Find returns the first element of list for which is is true, else nil.
func Find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}
