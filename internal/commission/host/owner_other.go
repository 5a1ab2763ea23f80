//go:build !unix

package host

// ownerGroup is unknown: files have no groups here.
func ownerGroup(string) string { return "" }

func accessible(string) bool { return true }
