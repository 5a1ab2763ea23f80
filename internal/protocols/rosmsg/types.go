package rosmsg

import "github.com/halyard-robotics/halyard/internal/protocols/fields"

// The messages of ROS 2 alone. A name with two parts is of a .msg file; others are named as ROS 2 does.
type (
	Empty        struct{}
	String       struct{ Data string }
	TwistStamped struct {
		Header Header
		Twist  Twist
	}
	Image struct {
		Header        Header
		Height, Width uint32
		Encoding      string
		IsBigendian   uint8
		Step          uint32
		Data          []byte
	}
	RegionOfInterest struct {
		XOffset, YOffset, Height, Width uint32
		DoRectify                       bool
	}
	CameraInfo struct {
		Header             Header
		Height, Width      uint32
		DistortionModel    string
		D                  []float64
		K, R               [9]float64
		P                  [12]float64
		BinningX, BinningY uint32
		ROI                RegionOfInterest `field:"roi"`
	}
	BatteryState struct {
		Header                                Header
		Voltage, Temperature, Current, Charge float32
		Capacity, DesignCapacity, Percentage  float32
		Status                                uint8 `field:"power_supply_status"`
		Health                                uint8 `field:"power_supply_health"`
		Technology                            uint8 `field:"power_supply_technology"`
		Present                               bool
		CellVoltage, CellTemperature          []float32
		Location, SerialNumber                string
	}
	FluidPressure struct {
		Header                  Header
		FluidPressure, Variance float64
	}
	InterfaceValue struct {
		InterfaceNames []string
		Values         []float64
	}
	DynamicJointState struct {
		Header          Header
		JointNames      []string
		InterfaceValues []InterfaceValue
	}
	MultiArrayDimension struct {
		Label        string
		Size, Stride uint32
	}
	MultiArrayLayout struct {
		Dim        []MultiArrayDimension
		DataOffset uint32
	}
	Float64MultiArray struct {
		Layout MultiArrayLayout
		Data   []float64
	}
	Duration struct {
		Sec     int32
		Nanosec uint32
	}
	JointTrajectoryPoint struct {
		Positions, Velocities, Accelerations, Effort []float64
		TimeFromStart                                Duration
	}
	JointTrajectory struct {
		Header     Header
		JointNames []string
		Points     []JointTrajectoryPoint
	}
	MultiDOFJointTrajectoryPoint struct {
		Transforms                []Transform
		Velocities, Accelerations []Twist
		TimeFromStart             Duration
	}
	MultiDOFJointTrajectory struct {
		Header     Header
		JointNames []string
		Points     []MultiDOFJointTrajectoryPoint
	}
	JointTolerance struct {
		Name                             string
		Position, Velocity, Acceleration float64
	}
	JointComponentTolerance struct {
		JointName                        string
		Component                        uint16
		Position, Velocity, Acceleration float64
	}
)

// The graph of nodes: what each node of a participant reads and writes.
type (
	GID  struct{ Data [16]byte }
	Node struct {
		NodeNamespace string `ros:"<=256"`
		NodeName      string `ros:"<=256"`
		Readers       []GID  `field:"reader_gid_seq"`
		Writers       []GID  `field:"writer_gid_seq"`
	}
	Participant struct {
		GID   GID    `field:"gid"`
		Nodes []Node `field:"node_entities_info_seq"`
	}
	// GID24 is that of Foxy to Humble.
	GID24  struct{ Data [24]byte }
	Node24 struct {
		NodeNamespace string `ros:"<=256"`
		NodeName      string `ros:"<=256"`
		Readers       []GID24
		Writers       []GID24
	}
	Participant24 struct {
		GID   GID24
		Nodes []Node24
	}
)

// The services, each a request and its answer.
type (
	TriggerRequest struct{}
	Trigger        struct {
		Success bool
		Message string
	}
	SetBoolRequest struct{ Data bool }
	SetBool        Trigger

	ParameterValue struct {
		Type              uint8
		BoolValue         bool
		IntegerValue      int64
		DoubleValue       float64
		StringValue       string
		ByteArrayValue    []uint8 `ros:"byte"`
		BoolArrayValue    []bool
		IntegerArrayValue []int64
		DoubleArrayValue  []float64
		StringArrayValue  []string
	}
	Parameter struct {
		Name  string
		Value ParameterValue
	}
	SetParametersResult struct {
		Successful bool
		Reason     string
	}
	FloatingPointRange struct{ FromValue, ToValue, Step float64 }
	IntegerRange       struct {
		FromValue, ToValue int64
		Step               uint64
	}
	ParameterDescriptor struct {
		Name                    string
		Type                    uint8
		Description             string
		AdditionalConstraints   string
		ReadOnly, DynamicTyping bool
		FloatingPointRange      []FloatingPointRange `ros:"<=1"`
		IntegerRange            []IntegerRange       `ros:"<=1"`
	}
	ListParametersResult     struct{ Names, Prefixes []string }
	GetParametersRequest     struct{ Names []string }
	GetParameters            struct{ Values []ParameterValue }
	GetParameterTypesRequest struct{ Names []string }
	GetParameterTypes        struct{ Types []uint8 }
	SetParametersRequest     struct{ Parameters []Parameter }
	SetParameters            struct{ Results []SetParametersResult }
	SetAtomicallyRequest     struct{ Parameters []Parameter }
	SetAtomically            struct{ Result SetParametersResult }
	ListParametersRequest    struct {
		Prefixes []string
		Depth    uint64
	}
	ListParameters            struct{ Result ListParametersResult }
	DescribeParametersRequest struct{ Names []string }
	DescribeParameters        struct{ Descriptors []ParameterDescriptor }

	ChainConnection struct {
		Name                string
		ReferenceInterfaces []string
	}
	ControllerState struct {
		Name, State, Type         string
		IsAsync                   bool
		UpdateRate                uint16
		ClaimedInterfaces         []string
		RequiredCommandInterfaces []string
		RequiredStateInterfaces   []string
		IsChainable, IsChained    bool
		ExportedStateInterfaces   []string
		ReferenceInterfaces       []string
		ChainConnections          []ChainConnection
	}
	ListControllersRequest  struct{}
	ListControllers         struct{ Controller []ControllerState }
	SwitchControllerRequest struct {
		ActivateControllers   []string
		DeactivateControllers []string
		Strictness            int32
		ActivateAsap          bool
		Timeout               Duration
	}
	SwitchController Result
	Result           struct {
		OK      bool `field:"ok"`
		Message string
	}
)

// The actions. ID is a goal's.
type (
	ID struct {
		UUID [16]byte `field:"uuid"`
	}
	GoalInfo struct {
		GoalID ID
		Stamp  fields.Time
	}
	GoalStatus struct {
		GoalInfo GoalInfo
		Status   int8
	}
	GoalStatusArray   struct{ StatusList []GoalStatus }
	CancelGoalRequest struct{ GoalInfo GoalInfo }
	CancelGoal        struct {
		ReturnCode     int8
		GoalsCanceling []GoalInfo
	}
	SendGoal struct {
		Accepted bool
		Stamp    fields.Time
	}
	GetResultRequest struct{ GoalID ID }

	FollowGoal struct {
		Trajectory             JointTrajectory
		MultiDOFTrajectory     MultiDOFJointTrajectory `field:"multi_dof_trajectory"`
		PathTolerance          []JointTolerance
		ComponentPathTolerance []JointComponentTolerance
		GoalTolerance          []JointTolerance
		ComponentGoalTolerance []JointComponentTolerance
		GoalTimeTolerance      Duration
	}
	FollowSend struct {
		GoalID ID
		Body   FollowGoal `field:"goal"`
	}
	FollowAccepted SendGoal
	FollowAsk      GetResultRequest
	FollowResult   struct {
		ErrorCode   int32
		ErrorString string
	}
	FollowEnded struct {
		Status int8
		Result FollowResult
	}
	FollowFeedback struct {
		Header                 Header
		JointNames             []string
		Desired, Actual, Error JointTrajectoryPoint
		MultiDOFJointNames     []string                     `field:"multi_dof_joint_names"`
		MultiDOFDesired        MultiDOFJointTrajectoryPoint `field:"multi_dof_desired"`
		MultiDOFActual         MultiDOFJointTrajectoryPoint `field:"multi_dof_actual"`
		MultiDOFError          MultiDOFJointTrajectoryPoint `field:"multi_dof_error"`
	}
	FollowFeedbackMessage struct {
		GoalID   ID
		Feedback FollowFeedback
	}
	GripperCommand struct{ Position, MaxEffort float64 }
	GripperGoal    struct{ Command GripperCommand }
	GripperSend    struct {
		GoalID ID
		Body   GripperGoal `field:"goal"`
	}
	GripperAccepted SendGoal
	GripperAsk      GetResultRequest
	GripperState    struct {
		Position, Effort     float64
		Stalled, ReachedGoal bool
	}
	GripperFeedback GripperState
	GripperEnded    struct {
		Status int8
		Result GripperState
	}
	GripperFeedbackMessage struct {
		GoalID   ID
		Feedback GripperFeedback
	}
)

func (Empty) TypeName() string                { return "std_msgs/Empty" }
func (String) TypeName() string               { return "std_msgs/String" }
func (TwistStamped) TypeName() string         { return "geometry_msgs/TwistStamped" }
func (Image) TypeName() string                { return "sensor_msgs/Image" }
func (RegionOfInterest) TypeName() string     { return "sensor_msgs/RegionOfInterest" }
func (CameraInfo) TypeName() string           { return "sensor_msgs/CameraInfo" }
func (BatteryState) TypeName() string         { return "sensor_msgs/BatteryState" }
func (FluidPressure) TypeName() string        { return "sensor_msgs/FluidPressure" }
func (InterfaceValue) TypeName() string       { return "control_msgs/InterfaceValue" }
func (DynamicJointState) TypeName() string    { return "control_msgs/DynamicJointState" }
func (MultiArrayDimension) TypeName() string  { return "std_msgs/MultiArrayDimension" }
func (MultiArrayLayout) TypeName() string     { return "std_msgs/MultiArrayLayout" }
func (Float64MultiArray) TypeName() string    { return "std_msgs/Float64MultiArray" }
func (Duration) TypeName() string             { return "builtin_interfaces/Duration" }
func (JointTrajectoryPoint) TypeName() string { return "trajectory_msgs/JointTrajectoryPoint" }
func (JointTrajectory) TypeName() string      { return "trajectory_msgs/JointTrajectory" }
func (MultiDOFJointTrajectoryPoint) TypeName() string {
	return "trajectory_msgs/MultiDOFJointTrajectoryPoint"
}
func (MultiDOFJointTrajectory) TypeName() string { return "trajectory_msgs/MultiDOFJointTrajectory" }
func (JointTolerance) TypeName() string          { return "control_msgs/JointTolerance" }
func (JointComponentTolerance) TypeName() string { return "control_msgs/JointComponentTolerance" }
func (GID) TypeName() string                     { return "rmw_dds_common/Gid" }
func (Node) TypeName() string                    { return "rmw_dds_common/NodeEntitiesInfo" }
func (Participant) TypeName() string             { return "rmw_dds_common/ParticipantEntitiesInfo" }
func (TriggerRequest) TypeName() string          { return "std_srvs/srv/Trigger_Request" }
func (Trigger) TypeName() string                 { return "std_srvs/srv/Trigger_Response" }
func (SetBoolRequest) TypeName() string          { return "std_srvs/srv/SetBool_Request" }
func (SetBool) TypeName() string                 { return "std_srvs/srv/SetBool_Response" }
func (ParameterValue) TypeName() string          { return "rcl_interfaces/ParameterValue" }
func (Parameter) TypeName() string               { return "rcl_interfaces/Parameter" }
func (SetParametersResult) TypeName() string     { return "rcl_interfaces/SetParametersResult" }
func (FloatingPointRange) TypeName() string      { return "rcl_interfaces/FloatingPointRange" }
func (IntegerRange) TypeName() string            { return "rcl_interfaces/IntegerRange" }
func (ParameterDescriptor) TypeName() string     { return "rcl_interfaces/ParameterDescriptor" }
func (ListParametersResult) TypeName() string    { return "rcl_interfaces/ListParametersResult" }
func (GetParametersRequest) TypeName() string    { return "rcl_interfaces/srv/GetParameters_Request" }
func (GetParameters) TypeName() string           { return "rcl_interfaces/srv/GetParameters_Response" }
func (GetParameterTypesRequest) TypeName() string {
	return "rcl_interfaces/srv/GetParameterTypes_Request"
}
func (GetParameterTypes) TypeName() string    { return "rcl_interfaces/srv/GetParameterTypes_Response" }
func (SetParametersRequest) TypeName() string { return "rcl_interfaces/srv/SetParameters_Request" }
func (SetParameters) TypeName() string        { return "rcl_interfaces/srv/SetParameters_Response" }
func (SetAtomicallyRequest) TypeName() string {
	return "rcl_interfaces/srv/SetParametersAtomically_Request"
}
func (SetAtomically) TypeName() string         { return "rcl_interfaces/srv/SetParametersAtomically_Response" }
func (ListParametersRequest) TypeName() string { return "rcl_interfaces/srv/ListParameters_Request" }
func (ListParameters) TypeName() string        { return "rcl_interfaces/srv/ListParameters_Response" }
func (DescribeParametersRequest) TypeName() string {
	return "rcl_interfaces/srv/DescribeParameters_Request"
}
func (DescribeParameters) TypeName() string { return "rcl_interfaces/srv/DescribeParameters_Response" }
func (ChainConnection) TypeName() string    { return "controller_manager_msgs/ChainConnection" }
func (ControllerState) TypeName() string    { return "controller_manager_msgs/ControllerState" }
func (ListControllersRequest) TypeName() string {
	return "controller_manager_msgs/srv/ListControllers_Request"
}
func (ListControllers) TypeName() string {
	return "controller_manager_msgs/srv/ListControllers_Response"
}
func (SwitchControllerRequest) TypeName() string {
	return "controller_manager_msgs/srv/SwitchController_Request"
}
func (SwitchController) TypeName() string {
	return "controller_manager_msgs/srv/SwitchController_Response"
}
func (ID) TypeName() string                { return "unique_identifier_msgs/UUID" }
func (GoalInfo) TypeName() string          { return "action_msgs/GoalInfo" }
func (GoalStatus) TypeName() string        { return "action_msgs/GoalStatus" }
func (GoalStatusArray) TypeName() string   { return "action_msgs/GoalStatusArray" }
func (CancelGoalRequest) TypeName() string { return "action_msgs/srv/CancelGoal_Request" }
func (CancelGoal) TypeName() string        { return "action_msgs/srv/CancelGoal_Response" }
func (FollowGoal) TypeName() string        { return "control_msgs/action/FollowJointTrajectory_Goal" }
func (FollowSend) TypeName() string {
	return "control_msgs/action/FollowJointTrajectory_SendGoal_Request"
}
func (FollowAccepted) TypeName() string {
	return "control_msgs/action/FollowJointTrajectory_SendGoal_Response"
}
func (FollowAsk) TypeName() string {
	return "control_msgs/action/FollowJointTrajectory_GetResult_Request"
}
func (FollowEnded) TypeName() string {
	return "control_msgs/action/FollowJointTrajectory_GetResult_Response"
}
func (FollowResult) TypeName() string   { return "control_msgs/action/FollowJointTrajectory_Result" }
func (FollowFeedback) TypeName() string { return "control_msgs/action/FollowJointTrajectory_Feedback" }
func (FollowFeedbackMessage) TypeName() string {
	return "control_msgs/action/FollowJointTrajectory_FeedbackMessage"
}
func (GripperCommand) TypeName() string { return "control_msgs/GripperCommand" }
func (GripperGoal) TypeName() string    { return "control_msgs/action/GripperCommand_Goal" }
func (GripperSend) TypeName() string    { return "control_msgs/action/GripperCommand_SendGoal_Request" }
func (GripperAccepted) TypeName() string {
	return "control_msgs/action/GripperCommand_SendGoal_Response"
}
func (GripperAsk) TypeName() string      { return "control_msgs/action/GripperCommand_GetResult_Request" }
func (GripperEnded) TypeName() string    { return "control_msgs/action/GripperCommand_GetResult_Response" }
func (GripperState) TypeName() string    { return "control_msgs/action/GripperCommand_Result" }
func (GripperFeedback) TypeName() string { return "control_msgs/action/GripperCommand_Feedback" }
func (GripperFeedbackMessage) TypeName() string {
	return "control_msgs/action/GripperCommand_FeedbackMessage"
}
