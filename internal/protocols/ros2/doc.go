// Package ros2 is a robot as a ROS 2 node, without ROS: it publishes, takes commands and serves over package rtps, as
// Cyclone DDS and Fast DDS do beneath rmw.
//
//	Node    names, types and their hashes, the graph of nodes, services in the forms of both vendors
//	Server  the node of one agent: the topics of package topics, commands, services, actions, parameters
//
// # Who may command
//
// Each participant that commands is a client of its own, with a topics.Commander: it holds the agent's lease from its
// first command until 500 ms after its last one, and for the time of a trajectory. A participant that ends, or whose
// DDS lease does, loses its commander: its trajectory is aborted and the body holds still.
package ros2
