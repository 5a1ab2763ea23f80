// Package foxglove implements the Foxglove WebSocket protocol, version 1 (foxglove/ws-protocol, docs/spec.md): Server
// serves one agent to Foxglove, Lichtblick and other viewers, and accepts their commands. Package topics defines the
// topics.
//
//	S  {"op":"serverInfo","name":"halyard: arm","capabilities":["clientPublish","time","parameters","services"],...}
//	S  {"op":"advertise","channels":[{"id":1,"topic":"/joint_states","encoding":"json","schemaName":"foxglove.JointStates",...}]}
//	S  {"op":"advertiseServices","services":[{"id":1,"name":"/stop","type":"std_srvs/Trigger",...}]}
//	C  {"op":"subscribe","subscriptions":[{"id":0,"channelId":1}]}
//	S  01 subscription:u32 time:u64 JSON
//	C  {"op":"advertise","channels":[{"id":9,"topic":"/joint_commands","encoding":"json","schemaName":"foxglove.JointStates"}]}
//	C  01 channel:u32 {"joints":[{"name":"elbow","position":0.5}]}
//
// Numbers are little endian. Messages are JSON with JSON schemas: those of Foxglove where it has one, ROS's
// diagnostic_msgs/DiagnosticArray, and our own halyard.Imu and halyard.Range. Unknown values are omitted, or null in a
// list. Times are the rig's, which the server sends.
//
// Parameters are the rig's named values. A mistake is answered with a status of level error.
package foxglove
