// Package rosbridge is the rosbridge protocol 2.0 (RobotWebTools/rosbridge_suite, ROSBRIDGE_PROTOCOL.md): JSON over
// WebSocket. Server answers roslibjs, roslibpy and other clients for one agent, as a rosbridge_server and a rosapi node
// next to a robot would, without ROS. Package topics has the topics.
//
//	C  {"op":"subscribe","id":"s1","topic":"/joint_states","type":"sensor_msgs/JointState","throttle_rate":100}
//	S  {"op":"publish","topic":"/joint_states","msg":{"header":...,"name":["shoulder"],"position":[0.1],...}}
//	C  {"op":"publish","topic":"/joint_commands","msg":{"name":["shoulder"],"position":[0.5]}}
//	C  {"op":"call_service","id":"c1","service":"/stop"}
//	S  {"op":"service_response","service":"/stop","values":{"success":true,"message":""},"result":true,"id":"c1"}
//
// # ROS 1 and ROS 2
//
// A client that names a type as ROS 2 does, sensor_msgs/msg/JointState, gets ROS 2's messages: stamps of sec and
// nanosec. One that names it as ROS 1 does, sensor_msgs/JointState, gets ROS 1's: secs and nsecs, and seq in headers.
// One that names none, and rosapi's answers, follow Options.ROS1.
//
// # Mistakes
//
// A malformed message, or an unknown op, topic, type or field, is answered with a status of level error, in rosbridge's
// words. A missing field is answered with level warning, which a client receives after set_level. A service that fails
// or is unknown is answered with result false. A message with a mistake has no effect.
//
// # Compression
//
// none, png and cbor. cbor-raw is refused: nothing here is serialized as ROS does. Messages longer than a
// subscription's fragment_size come in fragments, and clients may send fragments and png.
package rosbridge
