// Package usarini reads the INI files of USARSim: USARBot.ini, which describes robots and sensors, and BotAPI.ini,
// which has the addresses of the server. Robots of USARSim load without editing.
//
// # Grammar
//
//	file    = { comment | section }            comment = ";" or "//" to the end of the line
//	section = "[" name "]" { key "=" value }   a key may repeat: Sensors=..., also as +Sensors=, Sensors(3)=, Sensors[3]=
//	value   = "(" [ field { "," field } ] ")" | text      a value with open parentheses continues in the next line
//	field   = [ name "=" ] value
//	text    = "quoted" | class'Package.Class' | a word or number
//
// Names of sections, keys and fields are case-insensitive. The manual prints some values over two lines; they are read
// as one up to a blank line, a section, or a key that begins a value of its own. Text may be UTF-8, Latin-1, or UTF-16
// with a byte-order mark, as written by Unreal's editors.
//
// # Units
//
// Results are SI in hal's axes: x forward, y to the left, z up. A robot with bMountByUU has Unreal units and Unreal's
// axes (x forward, y to the right, z up): 52.5 to a metre, 32768 to half a turn. Other robots have metres and radians
// in the axes of SAE J670 (x forward, y to the right, z down). Directions are rotations about x, y and z, or Pitch, Yaw
// and Roll in Unreal units; then the position is in Unreal units too. Unreal's rotations have the same signs as J670's.
//
// # Twins
//
// Bots.Twin writes a robot as a file of sim/model, the only format from which bodies are built. A built-in class keeps
// its mechanics. Twin.Blame converts faults of that file to lines of the INI.
//
// # Faults
//
// Nothing is guessed. All faults are reported together, each with file, line and key. An unknown key is not a fault:
// real files have many keys that only Unreal needs. Such keys are listed in Bots.Ignored. Two mistakes of the manual
// itself are read as intended: a comma as a decimal point (Weight=0,4), and a HumanMotion FOV in degrees.
package usarini
