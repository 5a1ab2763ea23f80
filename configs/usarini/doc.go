// Package usarini reads the INI files of USARSim: USARBot.ini, which describes robots and sensors, and BotAPI.ini, which gives
// the addresses of the server. Robots of USARSim load without editing.
//
// # Grammar
//
//	file    = { comment | section }            comment = ";" or "//" to the end of the line
//	section = "[" name "]" { key "=" value }   a key may repeat: Sensors=..., also as +Sensors=, Sensors(3)=, Sensors[3]=
//	value   = "(" [ field { "," field } ] ")" | text      a value with open parentheses goes on in the next line
//	field   = [ name "=" ] value
//	text    = "quoted" | class'Package.Class' | a word or number
//
// Names of sections, keys and fields are known in any case. The manual prints some values over two lines; they are read
// as one up to a blank line, a section, or a key that begins a value of its own. Text may be UTF-8, Latin-1, or UTF-16
// with its mark, as Unreal's editors leave it.
//
// # Units
//
// What comes out is SI in hal's axes: x forward, y to the left, z up. What goes in is, of a robot with bMountByUU, Unreal
// units and Unreal's axes (x forward, y to the right, z up): 52.5 to a metre, 32768 to half a turn. Without it, it is
// metres and radians in those of SAE J670 (x forward, y to the right, z down). Directions are turns about x, y and z, or
// Pitch, Yaw and Roll in Unreal units, in which case so is the position. Unreal's turns have the same signs as J670's.
//
// # Twins
//
// Bots.Twin writes a robot as a file of sim/model, in which everything else reads robots: there is one way to a body. A
// class that is built in keeps its mechanics. Faults of that file are the INI's: Twin.Blame finds their lines.
//
// # Faults
//
// Nothing is guessed. All faults are reported together, each with file, line and key. An unknown key is not a fault: real
// files have many keys that only Unreal needs. Such keys are listed in Bots.Ignored. Two mistakes of the manual itself are
// read as intended: a comma as a decimal point (Weight=0,4), and a HumanMotion FOV in degrees.
package usarini
