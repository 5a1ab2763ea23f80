// Package record writes and reads recordings of a rig, MCAP files: every cycle's commands, measurements, states and
// guard decisions, all requests to the rig, and the bytes of every line with their times. docs/record.md describes the
// channels.
//
//	Recorder   a rig's journal and the taps on its lines; converted to JSON in its own goroutine
//	Writer     the MCAP file: schemas, channels, attachments, at least two chunks a second
//	Reader     reads a file from its beginning, also a truncated one
//	Playback   a line that repeats recorded answers
//	Comparison the differences between a replay and the recording
package record
