// Package topics represents one agent as topics: its measurements, named and grouped as ROS tools expect them, and the
// topics that clients publish to command it. rosbridge and foxglove send the same topics in their own formats.
//
//	/joint_states         every hinge, slide, wheel and thruster
//	/tf                   odom -> base_link -> each link; each scanner and camera
//	/odom                 the odometry, or the pose if absent
//	/imu/data             attitude, rates, acceleration
//	/scan                 a scanner; a second one is /scan/NAME
//	/range/NAME           a sonar or an infrared sensor
//	/battery_state        the supply's voltage
//	/pressure/NAME        a pressure sensor
//	/camera/compressed    a camera; a second one is /camera/NAME/compressed
//	/diagnostics          each device, the guard and the cycle
//	/clock                the rig's time
//	/joint_commands       from a client: goals of joints
//	/cmd_vel              from a client, of robots with wheels on two sides: forward speed and turn rate
//
// # Frames
//
// base_link is the frame of the robot's root link: x ahead, y left, z up (REP 103, 105). odom is the robot's pose at
// its last zero; without odometry it is the world. A camera's frame NAME points along x; its picture is in the frame
// NAME_optical, which points along z with x to the right.
//
// # Time
//
// A message is sent once, when its reading is new, and its stamp is when the reading was taken: Unix time of a real or
// emulated robot in real time, else the rig's time, which begins at 0. /clock counts as the stamps do.
//
// # Commands
//
// A client that commands holds the agent's lease; 500 ms after its last command the lease is released, and the body
// holds still. A client that does not read does not make the rig wait: a Feed samples when its client reads, and keeps
// at most as many unsent samples as the client requested.
package topics
