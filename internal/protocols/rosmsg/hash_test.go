package rosmsg_test

import (
	"os"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/cdr"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
)

// all are the messages of this package.
var all = []fields.Named{rosmsg.Empty{}, rosmsg.String{}, rosmsg.TwistStamped{}, rosmsg.Image{},
	rosmsg.RegionOfInterest{}, rosmsg.CameraInfo{}, rosmsg.BatteryState{},
	rosmsg.FluidPressure{}, rosmsg.InterfaceValue{}, rosmsg.DynamicJointState{}, rosmsg.MultiArrayDimension{},
	rosmsg.MultiArrayLayout{},
	rosmsg.Float64MultiArray{}, rosmsg.Duration{}, rosmsg.JointTrajectoryPoint{}, rosmsg.JointTrajectory{},
	rosmsg.MultiDOFJointTrajectory{},
	rosmsg.JointTolerance{}, rosmsg.JointComponentTolerance{}, rosmsg.GID{}, rosmsg.Node{}, rosmsg.Participant{},
	rosmsg.TriggerRequest{}, rosmsg.Trigger{},
	rosmsg.SetBoolRequest{}, rosmsg.SetBool{}, rosmsg.ParameterValue{}, rosmsg.Parameter{},
	rosmsg.SetParametersResult{}, rosmsg.FloatingPointRange{},
	rosmsg.IntegerRange{}, rosmsg.ParameterDescriptor{}, rosmsg.ListParametersResult{}, rosmsg.GetParametersRequest{},
	rosmsg.GetParameters{},
	rosmsg.GetParameterTypes{}, rosmsg.SetParametersRequest{}, rosmsg.SetParameters{}, rosmsg.SetAtomically{},
	rosmsg.ListParametersRequest{},
	rosmsg.ListParameters{}, rosmsg.DescribeParameters{}, rosmsg.ChainConnection{}, rosmsg.ControllerState{},
	rosmsg.ID{}, rosmsg.GoalInfo{}, rosmsg.GoalStatus{},
	rosmsg.GoalStatusArray{}, rosmsg.CancelGoalRequest{}, rosmsg.CancelGoal{}, rosmsg.FollowGoal{},
	rosmsg.FollowResult{}, rosmsg.FollowFeedback{},
	rosmsg.GripperCommand{}, rosmsg.GripperGoal{}, rosmsg.GripperSend{}, rosmsg.GripperAsk{}, rosmsg.GripperEnded{},
	rosmsg.GripperState{}, rosmsg.GripperFeedback{},
	rosmsg.Header{}, rosmsg.Vector3{}, rosmsg.Point{}, rosmsg.Quaternion{}, rosmsg.Pose{}, rosmsg.PoseWithCovariance{},
	rosmsg.Twist{}, rosmsg.TwistWithCovariance{},
	rosmsg.Transform{}, rosmsg.TransformStamped{}, rosmsg.TFMessage{}, rosmsg.JointState{}, rosmsg.Odometry{},
	rosmsg.IMU{}, rosmsg.LaserScan{}, rosmsg.Range{},
	rosmsg.CompressedImage{}, rosmsg.KeyValue{}, rosmsg.DiagnosticStatus{}, rosmsg.DiagnosticArray{}, rosmsg.Clock{}}

// TestHashes compares all hashes with those that ROS 2 Jazzy's own generator computed from its .msg files.
func TestHashes(t *testing.T) {
	b, err := os.ReadFile("testdata/typehashes.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		want[words[0]] = words[1]
	}
	for _, m := range all {
		name := rosmsg.FullName(m)
		if want[name] == "" {
			t.Errorf("%s: no hash of Jazzy's", name)
		} else if got := rosmsg.Hash(m); got != want[name] {
			t.Errorf("%s: got %s, want %s", name, got, want[name])
		}
		if _, err := cdr.Compile(m); err != nil {
			t.Error(err)
		}
	}
	if got := rosmsg.DDSName(rosmsg.FollowAsk{}); got != "control_msgs::action::dds_::FollowJointTrajectory_GetResult_Request_" {
		t.Errorf("got %s", got)
	}
}
