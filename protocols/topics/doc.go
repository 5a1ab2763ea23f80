// Package topics is one agent as topics: what it measures, named and grouped as ROS tools expect it, and what clients may
// publish to command it. rosbridge and foxglove send the same topics in their own words.
//
//	/joint_states         every hinge, slide, wheel and thruster
//	/tf                   odom -> base_link -> each link; each scanner and camera
//	/odom                 the odometry, or the pose if absent
//	/imu/data             attitude, rates, acceleration
//	/scan                 a scanner; a second one is /scan/NAME
//	/range/NAME           a sonar or an infrared sensor
//	/camera/compressed    a camera; a second one is /camera/NAME/compressed
//	/diagnostics          each device, the guard and the cycle
//	/clock                the rig's time
//	/joint_commands       from a client: goals of joints
//	/cmd_vel              from a client, of robots with wheels on two sides: forward speed and turn rate
//
// # Frames
//
// base_link is the frame of the robot's root link: x ahead, y left, z up (REP 103, 105). odom is where the robot was at
// its last zero; of a robot without odometry it is the world. A camera's frame NAME looks along x; its picture is seen from
// NAME_optical, which looks along z with x to the right.
//
// # Time
//
// Stamps are the rig's time, which begins at 0, does not move with the rig, and is what /clock tells.
//
// # Commands
//
// A client that commands holds the agent's lease; 500 ms after its last command it loses it, and the body holds still.
// Nothing that a client leaves unread makes the rig wait: a Feed samples when its client asks for more, and keeps of what
// it cannot send no more than the client asked for.
package topics
