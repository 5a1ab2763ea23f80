// Package record writes what a rig does into an MCAP file, and reads such files: every cycle's commands, measurements,
// states and guard decisions, everything that was asked of the rig, and the bytes of every line with their times. docs/record.md
// describes the channels.
//
//	Recorder   a rig's journal and the taps on its lines; off the cycle it becomes JSON
//	Writer     the MCAP file: schemas, channels, attachments, at least two chunks a second
//	Reader     reads one from its beginning, as far as it goes
//	Playback   a line that answers as a recorded one did
//	Comparison what a replay left otherwise than the recording
package record
