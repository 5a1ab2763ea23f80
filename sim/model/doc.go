// Package model is robots as data: what joints a robot has, which servo moves each, what hangs on it, and how the
// simulator it comes from calls them. The robots that come with Halyard are YAML files in this folder, built in; a
// file of one's own is read by Parse. Lengths, masses and inertias are SI; angles in the files are degrees, which the
// key's name says, and radians everywhere else.
package model
