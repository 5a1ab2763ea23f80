package rosbridge

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
)

// stamps are the times in messages, which transcripts write as T, and the rig's own figures.
var stamps = regexp.MustCompile(`\{"(secs?)":\d+,"(nanosec|nsecs)":\d+\}`)

// transcripts are sessions, C from the client, S from the server: the examples of the protocol's document and its
// messages to clients that make mistakes.
var transcripts = []struct{ name, lines string }{
	{"subscribe, ROS 2", `
C {"op":"subscribe","id":"a","topic":"/odom","type":"nav_msgs/msg/Odometry","throttle_rate":60000}
S {"op":"publish","topic":"/odom","msg":{"header":{"stamp":T2,"frame_id":"odom"},"child_frame_id":"base_link","pose":{"pose":{"position":{"x":0,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}},"covariance":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},"twist":{"twist":{"linear":{"x":0,"y":0,"z":0},"angular":{"x":0,"y":0,"z":0}},"covariance":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}}
C {"op":"unsubscribe","id":"a","topic":"/odom"}
C {"op":"subscribe","topic":"/joint_states","type":"sensor_msgs/msg/JointState","throttle_rate":60000}
S {"op":"publish","topic":"/joint_states","msg":{"header":{"stamp":T2,"frame_id":"base_link"},"name":["left","right","head"],"position":[0,0,0],"velocity":[0,0,0],"effort":[null,null,null]}}
C {"op":"subscribe","topic":"/scan","type":"sensor_msgs/msg/LaserScan","throttle_rate":60000}
S {"op":"publish","topic":"/scan","msg":{"header":{"stamp":T2,"frame_id":"scanner"},"angle_min":-1,"angle_max":1,"angle_increment":0.5,"time_increment":0,"scan_time":0,"range_min":0,"range_max":8,"ranges":[1,2,null,4,null],"intensities":[]}}
C {"op":"subscribe","topic":"/clock","type":"rosgraph_msgs/msg/Clock","throttle_rate":60000}
S {"op":"publish","topic":"/clock","msg":{"clock":T2}}`},
	{"subscribe, ROS 1", `
C {"op":"subscribe","topic":"imu/data","type":"sensor_msgs/Imu","throttle_rate":60000}
S {"op":"publish","topic":"imu/data","msg":{"header":{"seq":0,"stamp":T1,"frame_id":"imu"},"orientation":{"x":0,"y":0,"z":0,"w":1},"orientation_covariance":[0,0,0,0,0,0,0,0,0],"angular_velocity":{"x":0.1,"y":0.2,"z":0.3},"angular_velocity_covariance":[0,0,0,0,0,0,0,0,0],"linear_acceleration":{"x":0,"y":0,"z":9.8},"linear_acceleration_covariance":[0,0,0,0,0,0,0,0,0]}}
C {"op":"subscribe","topic":"/range/front","type":"sensor_msgs/Range","throttle_rate":60000}
S {"op":"publish","topic":"/range/front","msg":{"header":{"seq":0,"stamp":T1,"frame_id":"front"},"radiation_type":0,"field_of_view":0,"min_range":0,"max_range":5,"range":1.5}}
C {"op":"subscribe","topic":"/tf","type":"tf/tfMessage","throttle_rate":60000}
S {"op":"publish","topic":"/tf","msg":{"transforms":[{"header":{"seq":0,"stamp":T1,"frame_id":"odom"},"child_frame_id":"base_link","transform":{"translation":{"x":0,"y":0,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}},{"header":{"seq":0,"stamp":T1,"frame_id":"base_link"},"child_frame_id":"neck","transform":{"translation":{"x":0,"y":0,"z":0.5},"rotation":{"x":0,"y":0,"z":0,"w":1}}},{"header":{"seq":0,"stamp":T1,"frame_id":"base_link"},"child_frame_id":"imu","transform":{"translation":{"x":0.2,"y":0,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}},{"header":{"seq":0,"stamp":T1,"frame_id":"base_link"},"child_frame_id":"scanner","transform":{"translation":{"x":0.2,"y":0,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}},{"header":{"seq":0,"stamp":T1,"frame_id":"base_link"},"child_frame_id":"front","transform":{"translation":{"x":0.2,"y":0,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}},{"header":{"seq":0,"stamp":T1,"frame_id":"neck"},"child_frame_id":"eye","transform":{"translation":{"x":0,"y":0,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}},{"header":{"seq":0,"stamp":T1,"frame_id":"eye"},"child_frame_id":"eye_optical","transform":{"translation":{"x":0,"y":0,"z":0},"rotation":{"x":-0.5,"y":0.5,"z":-0.5,"w":0.5}}}]}}`},
	{"services", `
C {"op":"call_service","id":"c1","service":"/rosapi/topics"}
S {"op":"service_response","service":"/rosapi/topics","values":{"topics":["/joint_states","/tf","/odom","/imu/data","/scan","/range/front","/camera/compressed","/diagnostics","/clock","/joint_commands","/cmd_vel"],"types":["sensor_msgs/msg/JointState","tf2_msgs/msg/TFMessage","nav_msgs/msg/Odometry","sensor_msgs/msg/Imu","sensor_msgs/msg/LaserScan","sensor_msgs/msg/Range","sensor_msgs/msg/CompressedImage","diagnostic_msgs/msg/DiagnosticArray","rosgraph_msgs/msg/Clock","sensor_msgs/msg/JointState","geometry_msgs/msg/Twist"]},"result":true,"id":"c1"}
C {"op":"call_service","id":7,"service":"rosapi/topic_type","args":{"topic":"cmd_vel"}}
S {"op":"service_response","service":"rosapi/topic_type","values":{"type":"geometry_msgs/msg/Twist"},"result":true,"id":7}
C {"op":"call_service","service":"/rosapi/topic_type#old","args":["/nowhere"]}
S {"op":"service_response","service":"/rosapi/topic_type#old","values":{"type":""},"result":true,"id":"old"}
C {"op":"call_service","id":"c2","service":"/rosapi/message_details","args":{"type":"rosgraph_msgs/Clock"}}
S {"op":"service_response","service":"/rosapi/message_details","values":{"typedefs":[{"type":"rosgraph_msgs/Clock","fieldnames":["clock"],"fieldtypes":["time"],"fieldarraylen":[-1],"examples":["{}"],"constnames":[],"constvalues":[]},{"type":"time","fieldnames":["secs","nsecs"],"fieldtypes":["int32","uint32"],"fieldarraylen":[-1,-1],"examples":["0","0"],"constnames":[],"constvalues":[]}]},"result":true,"id":"c2"}
C {"op":"call_service","id":"c3","service":"/stop"}
S {"op":"service_response","service":"/stop","values":{"success":true,"message":""},"result":true,"id":"c3"}
C {"op":"publish","id":"p","topic":"/cmd_vel","msg":{"linear":{"x":1}}}
S {"op":"status","id":"p","level":"error","msg":"publish: command rover: the emergency stop is latched (try: /reset)"}
C {"op":"call_service","id":"c4","service":"/arm","args":[]}
S {"op":"service_response","service":"/arm","values":{"success":false,"message":"arm rover: the emergency stop is latched (try: halyard reset)"},"result":true,"id":"c4"}
C {"op":"call_service","id":"c5","service":"/reset"}
S {"op":"service_response","service":"/reset","values":{"success":true,"message":""},"result":true,"id":"c5"}
C {"op":"call_service","id":"c6","service":"/arm"}
S {"op":"service_response","service":"/arm","values":{"success":true,"message":""},"result":true,"id":"c6"}
C {"op":"call_service","id":"c7","service":"/nowhere"}
S {"op":"status","id":"c7","level":"error","msg":"call_service: Service /nowhere does not exist"}
S {"op":"service_response","service":"/nowhere","values":"Service /nowhere does not exist","result":false,"id":"c7"}
C {"op":"call_service","id":"c8","service":"/stop","args":{"hard":true}}
S {"op":"status","id":"c8","level":"error","msg":"call_service: Message type std_srvs/Trigger does not have a field hard"}
S {"op":"service_response","service":"/stop","values":"Message type std_srvs/Trigger does not have a field hard","result":false,"id":"c8"}
C {"op":"call_service","id":"c9"}
S {"op":"status","id":"c9","level":"error","msg":"call_service: Expected a service field but none was found."}`},
	{"rosapi", `
C {"op":"call_service","service":"/rosapi/topics_for_type","args":{"type":"sensor_msgs/msg/Range"}}
S {"op":"service_response","service":"/rosapi/topics_for_type","values":{"topics":["/range/front"]},"result":true}
C {"op":"call_service","service":"/rosapi/services"}
S {"op":"service_response","service":"/rosapi/services","values":{"services":["/stop","/reset","/arm","/rosapi/topics","/rosapi/topics_and_raw_types","/rosapi/topics_for_type","/rosapi/topic_type","/rosapi/services","/rosapi/services_for_type","/rosapi/service_type","/rosapi/service_node","/rosapi/service_providers","/rosapi/nodes","/rosapi/node_details","/rosapi/publishers","/rosapi/subscribers","/rosapi/action_servers","/rosapi/message_details","/rosapi/service_request_details","/rosapi/service_response_details","/rosapi/get_time","/rosapi/get_ros_version","/rosapi/get_param_names","/rosapi/has_param","/rosapi/get_param","/rosapi/set_param","/rosapi/delete_param"]},"result":true}
C {"op":"call_service","service":"/rosapi/services_for_type","args":{"type":"std_srvs/srv/Trigger"}}
S {"op":"service_response","service":"/rosapi/services_for_type","values":{"services":["/stop","/reset","/arm"]},"result":true}
C {"op":"call_service","service":"/rosapi/service_type","args":{"service":"/stop"}}
S {"op":"service_response","service":"/rosapi/service_type","values":{"type":"std_srvs/srv/Trigger"},"result":true}
C {"op":"call_service","service":"/rosapi/service_node","args":{"service":"/stop"}}
S {"op":"service_response","service":"/rosapi/service_node","values":{"node":"/halyard"},"result":true}
C {"op":"call_service","service":"/rosapi/service_providers","args":{"service":"std_srvs/Trigger"}}
S {"op":"service_response","service":"/rosapi/service_providers","values":{"providers":[]},"result":true}
C {"op":"call_service","service":"/rosapi/nodes"}
S {"op":"service_response","service":"/rosapi/nodes","values":{"nodes":["/halyard","/rosapi"]},"result":true}
C {"op":"call_service","service":"/rosapi/node_details","args":{"node":"/halyard"}}
S {"op":"service_response","service":"/rosapi/node_details","values":{"subscribing":["/joint_commands","/cmd_vel"],"publishing":["/joint_states","/tf","/odom","/imu/data","/scan","/range/front","/camera/compressed","/diagnostics","/clock"],"services":["/stop","/reset","/arm"]},"result":true}
C {"op":"call_service","service":"/rosapi/publishers","args":{"topic":"/odom"}}
S {"op":"service_response","service":"/rosapi/publishers","values":{"publishers":["/halyard"]},"result":true}
C {"op":"call_service","service":"/rosapi/subscribers","args":{"topic":"/cmd_vel"}}
S {"op":"service_response","service":"/rosapi/subscribers","values":{"subscribers":["/halyard"]},"result":true}
C {"op":"call_service","service":"/rosapi/action_servers"}
S {"op":"service_response","service":"/rosapi/action_servers","values":{"action_servers":[]},"result":true}
C {"op":"call_service","service":"/rosapi/service_request_details","args":{"type":"std_srvs/srv/SetBool"}}
S {"op":"status","level":"error","msg":"call_service: Unable to load the service type std_srvs/srv/SetBool"}
S {"op":"service_response","service":"/rosapi/service_request_details","values":"Unable to load the service type std_srvs/srv/SetBool","result":false}
C {"op":"call_service","service":"/rosapi/service_request_details","args":{"type":"rosapi/TopicType"}}
S {"op":"service_response","service":"/rosapi/service_request_details","values":{"typedefs":[{"type":"rosapi/TopicTypeRequest","fieldnames":["topic"],"fieldtypes":["string"],"fieldarraylen":[-1],"examples":[""],"constnames":[],"constvalues":[]}]},"result":true}
C {"op":"call_service","service":"/rosapi/service_response_details","args":{"type":"std_srvs/srv/Trigger"}}
S {"op":"service_response","service":"/rosapi/service_response_details","values":{"typedefs":[{"type":"std_srvs/TriggerResponse","fieldnames":["success","message"],"fieldtypes":["bool","string"],"fieldarraylen":[-1,-1],"examples":["false",""],"constnames":[],"constvalues":[]}]},"result":true}
C {"op":"call_service","service":"/rosapi/get_time"}
S {"op":"service_response","service":"/rosapi/get_time","values":{"time":T2},"result":true}
C {"op":"call_service","service":"/rosapi/get_ros_version"}
S {"op":"service_response","service":"/rosapi/get_ros_version","values":{"version":2,"distro":""},"result":true}
C {"op":"call_service","service":"/rosapi/get_param_names"}
S {"op":"service_response","service":"/rosapi/get_param_names","values":{"names":[]},"result":true}
C {"op":"call_service","service":"/rosapi/has_param","args":{"name":"/Gain"}}
S {"op":"service_response","service":"/rosapi/has_param","values":{"exists":false},"result":true}
C {"op":"call_service","service":"/rosapi/get_param","args":{"name":"/Gain"}}
S {"op":"service_response","service":"/rosapi/get_param","values":{"value":"null"},"result":true}
C {"op":"call_service","service":"/rosapi/set_param","args":{"name":"/Gain","value":"0.25"}}
S {"op":"status","level":"error","msg":"call_service: got a parameter to change, want none: the config holds them"}
S {"op":"service_response","service":"/rosapi/set_param","values":"got a parameter to change, want none: the config holds them","result":false}
C {"op":"call_service","service":"/rosapi/get_param","args":{"name":"/Gain","default_value":""}}
S {"op":"service_response","service":"/rosapi/get_param","values":{"value":"null"},"result":true}
C {"op":"call_service","service":"/rosapi/delete_param","args":{"name":"/Gain"}}
S {"op":"status","level":"error","msg":"call_service: got a parameter to change, want none: the config holds them"}
S {"op":"service_response","service":"/rosapi/delete_param","values":"got a parameter to change, want none: the config holds them","result":false}
C {"op":"call_service","service":"/rosapi/get_param","args":{"name":"/Nowhere","default_value":"7"}}
S {"op":"service_response","service":"/rosapi/get_param","values":{"value":"7"},"result":true}`},
	{"levels", `
C {"op":"set_level","level":"warning"}
C {"op":"advertise","id":1,"topic":"/led","type":"std_msgs/Bool"}
S {"op":"status","id":1,"level":"warning","msg":"advertise: nothing subscribes to /led"}
C {"op":"publish","topic":"/led","msg":{"data":true}}
C {"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":0,"y":0,"z":0}}}
S {"op":"status","level":"warning","msg":"publish: /cmd_vel: filled in angular"}
C {"op":"unadvertise","topic":"/led"}
C {"op":"unadvertise","topic":"/led"}
S {"op":"status","level":"warning","msg":"unadvertise: /led is not advertised"}
C {"op":"subscribe","topic":"/map","type":"nav_msgs/msg/OccupancyGrid"}
S {"op":"status","level":"warning","msg":"subscribe: nothing publishes /map"}
C {"op":"set_level","level":"loud"}
C {"op":"set_level","level":"none"}
C {"op":"dance"}
C {"op":"set_level","level":"error"}
C {"op":"status","level":"error","msg":"a client's own log"}
C {"op":"set_level","id":"x"}
S {"op":"status","id":"x","level":"error","msg":"set_level: Expected a level field but none was found."}`},
	{"mistakes", `
C hello
S {"op":"status","level":"error","msg":"Unable to deserialize message from client: got no JSON: invalid character 'h' looking for beginning of value"}
C {"id":"a"}
S {"op":"status","id":"a","level":"error","msg":"Received a message without an op.  All messages require 'op' field with value one of: [\"advertise\" \"unadvertise\" \"publish\" \"subscribe\" \"unsubscribe\" \"call_service\" \"fragment\" \"png\" \"set_level\" \"status\"]."}
C {"op":"dance","id":3}
S {"op":"status","id":3,"level":"error","msg":"Unknown operation: dance.  Allowed operations: [\"advertise\" \"unadvertise\" \"publish\" \"subscribe\" \"unsubscribe\" \"call_service\" \"fragment\" \"png\" \"set_level\" \"status\"]"}
C {"op":"subscribe","id":{}}
S {"op":"status","level":"error","msg":"Expected field id to be a string or a number. Invalid value: map[]"}
C {"op":"subscribe","id":"s"}
S {"op":"status","id":"s","level":"error","msg":"subscribe: Expected a topic field but none was found."}
C {"op":"subscribe","id":"s","topic":"/nowhere"}
S {"op":"status","id":"s","level":"error","msg":"subscribe: Cannot infer topic type for topic /nowhere as it is not yet advertised"}
C {"op":"subscribe","id":"s","topic":"/odom","type":"std_msgs/String"}
S {"op":"status","id":"s","level":"error","msg":"subscribe: Tried to register topic /odom with type std_msgs/String but it is already established with type nav_msgs/Odometry"}
C {"op":"subscribe","id":"s","topic":"/odom","throttle_rate":-1}
S {"op":"status","id":"s","level":"error","msg":"subscribe: Expected field throttle_rate to be a whole number of at least 0. Invalid value: -1"}
C {"op":"subscribe","id":"s","topic":"/odom","compression":"cbor-raw"}
S {"op":"status","id":"s","level":"error","msg":"subscribe: compression: got \"cbor-raw\", want none, png or cbor"}
C {"op":"subscribe","id":"s","topic":"/odom","fragment_size":1}
S {"op":"status","id":"s","level":"error","msg":"subscribe: fragment_size: got 1, want at least 128"}
C {"op":"advertise","id":"s","topic":"/cmd_vel","type":"geometry_msgs/TwistStamped"}
S {"op":"status","id":"s","level":"error","msg":"advertise: Tried to register topic /cmd_vel with type geometry_msgs/TwistStamped but it is already established with type geometry_msgs/Twist"}
C {"op":"advertise","id":"s","topic":"/odom","type":"nav_msgs/msg/Odometry"}
S {"op":"status","id":"s","level":"error","msg":"advertise: Tried to register topic /odom, which only the robot publishes"}
C {"op":"publish","topic":"/odom","msg":{}}
S {"op":"status","level":"error","msg":"publish: Tried to publish /odom, which only the robot publishes"}
C {"op":"publish","topic":"/led","msg":{}}
S {"op":"status","level":"error","msg":"publish: Cannot infer topic type for topic /led as it is not yet advertised"}
C {"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":"fast"}}}
S {"op":"status","level":"error","msg":"publish: geometry_msgs/Twist message requires a float64 for field linear.x, but got a string"}
C {"op":"publish","topic":"/cmd_vel","msg":{"linear":{"y":1}}}
S {"op":"status","level":"error","msg":"publish: command rover: got 1 m/s to the side, want 0: its wheels do not roll sideways"}
C {"op":"publish","topic":"/joint_commands","msg":{"name":["tail"],"position":[1]}}
S {"op":"status","level":"error","msg":"publish: name: got \"tail\", want a joint of /joint_states"}
C {"op":"publish","topic":"/joint_commands","msg":{"name":["head"],"position":[1],"velocity":[1]}}
S {"op":"status","level":"error","msg":"publish: command head: got two goals, want one goal"}
C {"op":"publish","topic":"/joint_commands","msg":{"name":["head"],"effort":[1]}}
S {"op":"status","level":"error","msg":"publish: command head: got a torque goal, want a mode of its drive"}
C {"op":"publish","topic":"/joint_commands","msg":{"name":["head"],"position":[1,2]}}
S {"op":"status","level":"error","msg":"publish: position: got 2 values, want 1, one for each name"}
C {"op":"publish","topic":"/joint_commands","msg":{"name":["head"]}}
S {"op":"status","level":"error","msg":"publish: command rover: got no goal"}
C {"op":"fragment","id":"f","data":"","num":2,"total":2}
S {"op":"status","id":"f","level":"error","msg":"fragment: received invalid fragment: want id, data, num and total, num below total, total at most 1024"}
C {"op":"png","id":"f","data":"QUJD"}
S {"op":"status","id":"f","level":"error","msg":"png: png: unexpected EOF"}`},
	{"fragments of a client", `
C {"op":"fragment","id":"f","data":":\"/rosapi/topic_type\",\"args\":[\"/odom\"]}","num":1,"total":2}
C {"op":"fragment","id":"f","data":"{\"op\":\"call_service\",\"service\"","num":0,"total":2}
S {"op":"service_response","service":"/rosapi/topic_type","values":{"type":"nav_msgs/msg/Odometry"},"result":true}
C {"op":"fragment","id":"f","data":"a","num":0,"total":2}
C {"op":"fragment","id":"f","data":"a","num":0,"total":2}
S {"op":"status","id":"f","level":"error","msg":"fragment: error while trying to append fragment 0"}`},
	{"fragments of the server", `
C {"op":"call_service","id":"a call with a long name","service":"/rosapi/topic_type","args":["/odom"],"fragment_size":128}
S {"op":"fragment","id":"a call with a long name","data":"{\"op\":\"service_response\",\"service\":\"/rosapi/topic_type\",\"values\":{\"type\":\"nav_msgs/msg/Odometry\"},\"result\":true,\"id\":\"a call wit","num":0,"total":2}
S {"op":"fragment","id":"a call with a long name","data":"h a long name\"}","num":1,"total":2}`},
}

func TestTranscripts(t *testing.T) {
	for _, k := range transcripts {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{}))
				for line := range strings.Lines(strings.TrimSpace(k.lines)) {
					line = strings.TrimSpace(line)
					if line[0] == 'C' {
						c.send(line[2:])
						continue
					}
					_, got := c.next()
					got = stamps.ReplaceAllStringFunc(got, func(s string) string {
						if strings.Contains(s, "secs") {
							return "T1"
						}
						return "T2"
					})
					if "S "+got != line {
						t.Fatalf("got\nS %s, want\n%s", got, line)
					}
				}
			})
		})
	}
}

// TestDrive commands a rover in both modes of the clock: it drives as long as commands come, and half a second after
// the last.
func TestDrive(t *testing.T) {
	for _, mode := range []hal.ClockMode{hal.Realtime, hal.Lockstep} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, topicstest.Config{Mode: mode}, Options{})
			c, other := dial(t, s), dial(t, s)
			for range 10 {
				c.send(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":0.5},"angular":{"z":0.4}}}`)
				time.Sleep(100 * time.Millisecond)
			}
			if left, right := s.Rover.Wheels(); math.Abs(left-4) > 1e-9 || math.Abs(right-6) > 1e-9 {
				t.Errorf("%v: wheels: got %g, %g, want 4, 6 rad/s", mode, left, right)
			}
			if h := s.Agent.Holder(); !strings.HasPrefix(h, "rosbridge@") {
				t.Errorf("%v: holder: got %q", mode, h)
			}
			other.send(`{"op":"publish","topic":"/joint_commands","msg":{"name":["head"],"position":[1]}}`)
			if _, got := other.next(); !strings.Contains(got, "control rover: held by rosbridge@") {
				t.Errorf("%v: a second client: got %s, want it refused", mode, got)
			}
			time.Sleep(time.Second)
			if left, right := s.Rover.Wheels(); left != 0 || right != 0 || s.Agent.Holder() != "" {
				t.Errorf("%v: 0.5 s after the last command: got %g, %g, held by %q", mode, left, right,
					s.Agent.Holder())
			}
			other.send(`{"op":"publish","topic":"/joint_commands","msg":{"name":["head","left"],"position":[0.2,null],"velocity":[null,3]}}`)
			time.Sleep(200 * time.Millisecond)
			if left, _ := s.Rover.Wheels(); left != 3 || s.Rover.Looks() != 0.2 {
				t.Errorf("%v: joint_commands: got %g, %g, want 3, 0.2", mode, left, s.Rover.Looks())
			}
			other.conn.CloseNow()
			time.Sleep(100 * time.Millisecond)
			if left, right := s.Rover.Wheels(); left != 0 || right != 0 {
				t.Errorf("%v: its client left: got %g, %g", mode, left, right)
			}
		})
	}
}

// TestReal asks for what only the operator of a real body may do.
func TestReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime, BodyKind: hal.Real,
			Guard: hal.GuardConfig{Arming: hal.OperatorArms}}, Options{})
		c := dial(t, s)
		for _, k := range []struct{ service, want string }{
			{"/stop", `{"success":true,"message":""}`},
			{"/reset", `{"success":false,"message":"reset rover: got a client, want the operator of a real body (try: halyard reset)"}`},
			{"/arm", `{"success":false,"message":"arm rover: the emergency stop is latched (try: halyard reset)"}`},
		} {
			c.send(`{"op":"call_service","service":"` + k.service + `"}`)
			if _, got := c.next(); !strings.Contains(got, k.want) {
				t.Errorf("%s: got %s, want %s", k.service, got, k.want)
			}
		}
		s.Rig.Recover()
		c.send(`{"op":"call_service","service":"/arm"}`)
		if _, got := c.next(); !strings.Contains(got, "only the operator arms it") ||
			!strings.Contains(got, `"success":false`) {
			t.Errorf("arm: got %s, want it refused", got)
		}
		c.send(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":0.5}}}`)
		if _, got := c.next(); !strings.Contains(got, "disarmed (try: halyard arm)") {
			t.Errorf("a command: got %s, want it refused", got)
		}
	})
}

// TestOperatorsStop: clients may ask to reset and arm after the operator's stop and disarm, and are refused, on any
// body.
func TestOperatorsStop(t *testing.T) {
	for _, kind := range []hal.BodyKind{hal.Simulated, hal.Emulated, hal.Real} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, topicstest.Config{Mode: hal.Realtime, BodyKind: kind}, Options{})
			c := dial(t, s)
			refused := func(service, want string) {
				t.Helper()
				c.send(`{"op":"call_service","service":"` + service + `"}`)
				if _, got := c.next(); !strings.Contains(got, `"success":false`) || !strings.Contains(got, want) {
					t.Errorf("%v: %s: got %s, want it refused: %s", kind, service, got, want)
				}
			}
			s.Rig.EmergencyStop("button")
			refused("/reset", "try: halyard reset")
			refused("/arm", "try: halyard reset")
			s.Rig.Recover()
			refused("/arm", "try: halyard arm")
			s.Rig.Arm()
			s.Rig.Disarm()
			refused("/arm", "try: halyard arm")
		})
	}
}

// TestRates counts messages: throttle_rate, a queue that waits for it, and the lowest rate of two requests.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{}))
		count := func(d time.Duration) (n int, first, last string) {
			for end := time.Now().Add(d); time.Now().Before(end); n++ {
				_, m := c.next()
				if stamp := stamps.FindString(m); n == 0 {
					first = stamp
				} else {
					last = stamp
				}
			}
			return n, first, last
		}
		c.send(`{"op":"subscribe","id":"a","topic":"/clock","throttle_rate":100}`)
		if n, _, _ := count(2 * time.Second); n < 18 || n > 22 {
			t.Errorf("throttle_rate 100: got %d in 2 s, want 20", n)
		}
		c.send(`{"op":"subscribe","id":"b","topic":"/clock"}`)
		if n, _, _ := count(2 * time.Second); n < 90 || n > 102 {
			t.Errorf("a second request without a rate: got %d in 2 s, want 100", n)
		}
		c.send(`{"op":"unsubscribe","id":"b","topic":"/clock"}`)
		if n, _, _ := count(2 * time.Second); n < 17 || n > 24 {
			t.Errorf("after it ended: got %d in 2 s, want 20", n)
		}
		c.send(`{"op":"subscribe","id":"a","topic":"/clock","throttle_rate":500,"queue_length":5}`)
		count(time.Second)
		_, first, last := count(time.Second)
		var a, b struct{ Sec, Nanosec int64 }
		json.Unmarshal([]byte(first), &a)
		json.Unmarshal([]byte(last), &b)
		if gap := time.Duration(b.Sec-a.Sec)*time.Second + time.Duration(b.Nanosec-a.Nanosec); gap <= 0 {
			t.Errorf("a queue: got samples %v apart, want them in their order", gap)
		}
	})
}

// TestCompression reads what png, cbor and fragments carry.
func TestCompression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{}))
		c.send(`{"op":"subscribe","topic":"/clock","compression":"png","throttle_rate":60000}`)
		var wrapped struct{ Op, Data string }
		_, m := c.next()
		json.Unmarshal([]byte(m), &wrapped)
		if text, err := fromPNG(wrapped.Data, 1000); err != nil ||
			!strings.HasPrefix(string(text), `{"op":"publish","topic":"/clock"`) || wrapped.Op != "png" {
			t.Errorf("png: got %s, %v", text, err)
		}
		c.send(`{"op":"subscribe","topic":"/odom","compression":"cbor","throttle_rate":60000}`)
		kind, m := c.next()
		if kind != websocket.MessageBinary || !strings.HasPrefix(m, "\xa3bopgpublishetopice/odomcmsg") {
			t.Errorf("cbor: got %v %q", kind, m)
		}
		c.send(`{"op":"subscribe","topic":"/tf","fragment_size":200,"throttle_rate":60000}`)
		whole := ""
		for i := 0; ; i++ {
			var f struct {
				Op, Data   string
				Num, Total int
			}
			_, m := c.next()
			if json.Unmarshal([]byte(m), &f); f.Op != "fragment" || f.Num != i || len(f.Data) > 200 {
				t.Fatalf("fragment %d: got %s", i, m)
			}
			if whole += f.Data; i == f.Total-1 {
				break
			}
		}
		if !json.Valid([]byte(whole)) || !strings.Contains(whole, "eye_optical") {
			t.Errorf("fragments: got %s", whole)
		}
		text := `{"op":"call_service","service":"/rosapi/topic_type","args":["/odom"]}`
		c.send(`{"op":"png","data":"` + string(toPNG([]byte(text))) + `"}`)
		if _, m := c.next(); !strings.Contains(m, "nav_msgs/msg/Odometry") {
			t.Errorf("a client's png: got %s", m)
		}
		c.send(`{"op":"subscribe","topic":"/camera/compressed","throttle_rate":60000}`)
		var image struct {
			Msg struct {
				Format string
				Header struct {
					FrameID string `json:"frame_id"`
				}
				Data []byte
			}
		}
		_, m = c.next()
		if json.Unmarshal([]byte(m), &image); image.Msg.Format != "jpeg" || image.Msg.Header.FrameID != "eye_optical" ||
			!strings.HasPrefix(string(image.Msg.Data), "\xff\xd8") {
			t.Errorf("image: got %.200s", m)
		}
	})
}
