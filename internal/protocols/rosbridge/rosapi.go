package rosbridge

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
)

// The answers of services, and what their requests hold; those without a name here are rosapi's.
type (
	none    struct{}
	trigger struct {
		Success bool
		Message string
	}
	typeDef struct {
		Type          string
		FieldNames    []string `field:"fieldnames"`
		FieldTypes    []string `field:"fieldtypes"`
		FieldArrayLen []int32  `field:"fieldarraylen"`
		Examples      []string
		ConstNames    []string `field:"constnames"`
		ConstValues   []string `field:"constvalues"`
	}
	typeDefs struct {
		TypeDefs []typeDef `field:"typedefs"`
	}
	topicList  struct{ Topics []string }
	topicTypes struct{ Topics, Types []string }
	rawTypes   struct {
		Topics, Types []string
		FullText      []string `field:"typedefs_full_text"`
	}
	serviceList    struct{ Services []string }
	nodeList       struct{ Nodes []string }
	nodeDetails    struct{ Subscribing, Publishing, Services []string }
	publisherList  struct{ Publishers []string }
	subscriberList struct{ Subscribers []string }
	providerList   struct{ Providers []string }
	nodeName       struct{ Node string }
	typeName       struct{ Type string }
	topicName      struct{ Topic string }
	serviceName    struct{ Service string }
	actionServers  struct {
		Servers []string `field:"action_servers"`
	}
	paramNames   struct{ Names []string }
	paramName    struct{ Name string }
	paramDefault struct {
		Name    string
		Default string `field:"default_value"`
	}
	paramValue  struct{ Value string }
	paramSet    struct{ Name, Value string }
	paramExists struct{ Exists bool }
	timeNow     struct{ Time fields.Time }
	rosVersion  struct {
		Version uint8
		Distro  string
	}
)

// service is one row of what may be called. do gets the request, of request's type, and returns the response.
type service struct {
	name, kind        string
	request, response any
	do                func(s *session, request any) (any, error)
}

const (
	node     = "/halyard"
	rosapi   = "/rosapi"
	noDistro = ""
)

// services are all services of a server, by name. All requests but those of the parameters are of one string or none.
func services() []service {
	one := func(f func(s *session, name string) (any, error)) func(*session, any) (any, error) {
		return func(s *session, request any) (any, error) {
			return f(s, reflect.ValueOf(request).Elem().Field(0).String())
		}
	}
	act := func(f func(*session) error) func(*session, any) (any, error) {
		return func(s *session, _ any) (any, error) {
			if err := f(s); err != nil {
				return &trigger{false, err.Error()}, nil
			}
			return &trigger{Success: true}, nil
		}
	}
	return []service{
		{"/stop", "std_srvs/Trigger", none{}, trigger{}, act(func(s *session) error { return s.feed.Stop() })},
		{"/reset", "std_srvs/Trigger", none{}, trigger{}, act(func(s *session) error { return s.feed.Reset() })},
		{"/arm", "std_srvs/Trigger", none{}, trigger{}, act(func(s *session) error { return s.feed.Arm() })},
		{"/rosapi/topics", "rosapi/Topics", none{}, topicTypes{}, func(s *session, _ any) (any, error) {
			names, types := s.server.topicTypes(s.ros1)
			return &topicTypes{names, types}, nil
		}},
		{"/rosapi/topics_and_raw_types", "rosapi/TopicsAndRawTypes", none{}, rawTypes{},
			func(s *session, _ any) (any, error) {
				names, types := s.server.topicTypes(s.ros1)
				out := &rawTypes{Topics: names, Types: types}
				for i := range names {
					out.FullText = append(out.FullText, fullText(rosmsg.Type(s.server.topics[i].Kind), s.style()))
				}
				return out, nil
			}},
		{"/rosapi/topics_for_type", "rosapi/TopicsForType", typeName{}, topicList{},
			one(func(s *session, want string) (any, error) {
				out := &topicList{Topics: []string{}}
				names, _ := s.server.topicTypes(s.ros1)
				for i, name := range names {
					if kind, _ := plainType(want); kind == rosmsg.Type(s.server.topics[i].Kind).TypeName() {
						out.Topics = append(out.Topics, name)
					}
				}
				return out, nil
			})},
		{"/rosapi/topic_type", "rosapi/TopicType", topicName{}, typeName{},
			one(func(s *session, name string) (any, error) {
				out := &typeName{}
				if t := s.server.topic(name); t != nil {
					out.Type = spell(rosmsg.Type(t.Kind).TypeName(), "msg", s.ros1)
				}
				return out, nil
			})},
		{"/rosapi/services", "rosapi/Services", none{}, serviceList{}, func(s *session, _ any) (any, error) {
			return &serviceList{s.server.serviceNames("")}, nil
		}},
		{"/rosapi/services_for_type", "rosapi/ServicesForType", typeName{}, serviceList{},
			one(func(s *session, want string) (any, error) {
				kind, _ := plainType(want)
				kind = cmp.Or(kind, "none")
				return &serviceList{s.server.serviceNames(kind)}, nil
			})},
		{"/rosapi/service_type", "rosapi/ServiceType", serviceName{}, typeName{},
			one(func(s *session, name string) (any, error) {
				out := &typeName{}
				if v := s.server.service(name); v != nil {
					out.Type = spell(v.kind, "srv", s.ros1)
				}
				return out, nil
			})},
		{"/rosapi/service_node", "rosapi/ServiceNode", serviceName{}, nodeName{},
			one(func(s *session, name string) (any, error) {
				out := &nodeName{}
				if v := s.server.service(name); v != nil {
					out.Node = nodeOf(v.name)
				}
				return out, nil
			})},
		{"/rosapi/service_providers", "rosapi/ServiceProviders", serviceName{}, providerList{},
			one(func(s *session, name string) (any, error) {
				out := &providerList{[]string{}}
				if v := s.server.service(name); v != nil {
					out.Providers = append(out.Providers, nodeOf(v.name))
				}
				return out, nil
			})},
		{"/rosapi/nodes", "rosapi/Nodes", none{}, nodeList{},
			func(*session, any) (any, error) { return &nodeList{[]string{node, rosapi}}, nil }},
		{"/rosapi/node_details", "rosapi/NodeDetails", nodeName{}, nodeDetails{},
			one(func(s *session, name string) (any, error) {
				out := &nodeDetails{[]string{}, []string{}, []string{}}
				for i := range s.server.topics {
					if t := &s.server.topics[i]; absolute(name) == node && t.Command() {
						out.Subscribing = append(out.Subscribing, t.Name)
					} else if absolute(name) == node {
						out.Publishing = append(out.Publishing, t.Name)
					}
				}
				for _, v := range s.server.services {
					if nodeOf(v.name) == absolute(name) {
						out.Services = append(out.Services, v.name)
					}
				}
				return out, nil
			})},
		{"/rosapi/publishers", "rosapi/Publishers", topicName{}, publisherList{},
			one(func(s *session, name string) (any, error) {
				out := &publisherList{[]string{}}
				if t := s.server.topic(name); t != nil && !t.Command() {
					out.Publishers = append(out.Publishers, node)
				}
				return out, nil
			})},
		{"/rosapi/subscribers", "rosapi/Subscribers", topicName{}, subscriberList{},
			one(func(s *session, name string) (any, error) {
				out := &subscriberList{[]string{}}
				if t := s.server.topic(name); t != nil && t.Command() {
					out.Subscribers = append(out.Subscribers, node)
				}
				return out, nil
			})},
		{"/rosapi/action_servers", "rosapi/GetActionServers", none{}, actionServers{},
			func(*session, any) (any, error) {
				return &actionServers{[]string{}}, nil
			}},
		{"/rosapi/message_details", "rosapi/MessageDetails", typeName{}, typeDefs{},
			one(func(s *session, name string) (any, error) {
				kind, ros1 := plainType(name)
				for _, m := range rosmsg.Types() {
					if m.TypeName() == kind {
						return &typeDefs{describe(reflect.TypeOf(m).Elem(), kind, styleOf(ros1))}, nil
					}
				}
				return nil, errorf("Unable to load the message type %.200s", name)
			})},
		{"/rosapi/service_request_details", "rosapi/ServiceRequestDetails", typeName{}, typeDefs{},
			one(func(s *session, name string) (any, error) {
				return s.server.serviceDetails(name, "Request", func(v *service) any { return v.request })
			})},
		{"/rosapi/service_response_details", "rosapi/ServiceResponseDetails", typeName{}, typeDefs{},
			one(func(s *session, name string) (any, error) {
				return s.server.serviceDetails(name, "Response", func(v *service) any { return v.response })
			})},
		{"/rosapi/get_time", "rosapi/GetTime", none{}, timeNow{}, func(s *session, _ any) (any, error) {
			return &timeNow{fields.At(s.now())}, nil
		}},
		{"/rosapi/get_ros_version", "rosapi/GetROSVersion", none{}, rosVersion{}, func(s *session, _ any) (any, error) {
			if s.ros1 {
				return &rosVersion{1, noDistro}, nil
			}
			return &rosVersion{2, noDistro}, nil
		}},
		{"/rosapi/get_param_names", "rosapi/GetParamNames", none{}, paramNames{},
			func(*session, any) (any, error) { return &paramNames{[]string{}}, nil }},
		{"/rosapi/has_param", "rosapi/HasParam", paramName{}, paramExists{},
			func(*session, any) (any, error) { return &paramExists{}, nil }},
		{"/rosapi/get_param", "rosapi/GetParam", paramDefault{}, paramValue{},
			func(_ *session, request any) (any, error) {
				if request.(*paramDefault).Default == "" {
					return &paramValue{"null"}, nil // clients parse it as JSON
				}
				return &paramValue{request.(*paramDefault).Default}, nil
			}},
		{"/rosapi/set_param", "rosapi/SetParam", paramSet{}, none{}, noParams},
		{"/rosapi/delete_param", "rosapi/DeleteParam", paramName{}, none{}, noParams},
	}
}

func noParams(*session, any) (any, error) {
	return nil, errorf("got a parameter to change, want none: the config holds them")
}

func nodeOf(service string) string {
	if strings.HasPrefix(service, rosapi+"/") {
		return rosapi
	}
	return node
}

// absolute is a name from the root, which the clients' namespace is.
func absolute(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return "/" + name
}

// plainType takes msg or srv out of a ROS 2 type name; ros1 reports that it was not there.
func plainType(name string) (plain string, ros1 bool) {
	if parts := strings.Split(name, "/"); len(parts) == 3 && (parts[1] == "msg" || parts[1] == "srv") {
		return parts[0] + "/" + parts[2], false
	}
	return name, true
}

// spell is a type name as ROS 1 or 2 has it; rosapi's types are in rosapi_msgs there.
func spell(plain, middle string, ros1 bool) string {
	if ros1 {
		return plain
	}
	pkg, name, _ := strings.Cut(plain, "/")
	if pkg == "rosapi" {
		pkg = "rosapi_msgs"
	}
	return pkg + "/" + middle + "/" + name
}

func styleOf(ros1 bool) fields.Style {
	if ros1 {
		return fields.ROS1
	}
	return fields.ROS2
}

// describe is a type and those of its fields, each once.
func describe(t reflect.Type, name string, s fields.Style) (all []typeDef) {
	d := typeDef{Type: name, FieldNames: []string{}, FieldTypes: []string{}, FieldArrayLen: []int32{},
		Examples: []string{}, ConstNames: []string{}, ConstValues: []string{}}
	var inner []reflect.Type
	for _, f := range fields.Of(t, s) {
		kind, length := fields.Name(f.Type, s)
		elem := f.Type
		for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array {
			elem = elem.Elem()
		}
		example := "{}"
		switch {
		case length >= 0:
			example = "[]"
		case elem.Kind() != reflect.Struct:
			example = fmt.Sprint(reflect.Zero(elem))
		}
		d.FieldNames, d.FieldTypes, d.FieldArrayLen = append(d.FieldNames, f.Name), append(d.FieldTypes, kind),
			append(d.FieldArrayLen, int32(length))
		d.Examples = append(d.Examples, example)
		if elem.Kind() == reflect.Struct {
			inner = append(inner, elem)
		}
	}
	all = append(all, d)
	for _, t := range inner {
		name, _ := fields.Name(t, s)
		if fields.IsTime(t) {
			if !slices.ContainsFunc(all, func(d typeDef) bool { return d.Type == name }) {
				all = append(all, typeDef{name, []string{s.Seconds, s.Nanoseconds}, []string{"int32", "uint32"},
					[]int32{-1, -1}, []string{"0", "0"}, []string{}, []string{}})
			}
			continue
		}
		for _, d := range describe(t, name, s) {
			if !slices.ContainsFunc(all, func(have typeDef) bool { return have.Type == d.Type }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// fullText is a message's definition and those of its fields, as gendeps --cat prints them.
func fullText(m fields.Named, s fields.Style) string {
	var b strings.Builder
	for i, d := range describe(reflect.TypeOf(m).Elem(), m.TypeName(), s) {
		if i > 0 {
			if d.Type == "time" {
				continue // a word of the language
			}
			fmt.Fprintf(&b, "%s\nMSG: %s\n", strings.Repeat("=", 80), d.Type)
		}
		for k, name := range d.FieldNames {
			array := ""
			if n := d.FieldArrayLen[k]; n == 0 {
				array = "[]"
			} else if n > 0 {
				array = fmt.Sprintf("[%d]", n)
			}
			fmt.Fprintf(&b, "%s%s %s\n", d.FieldTypes[k], array, name)
		}
	}
	return b.String()
}

// serviceDetails describes the request or the response of a service type.
func (s *Server) serviceDetails(name, part string, of func(*service) any) (any, error) {
	kind, ros1 := plainType(name)
	for i := range s.services {
		v := &s.services[i]
		if spellings := []string{v.kind, strings.Replace(v.kind, "rosapi/", "rosapi_msgs/", 1)}; slices.Contains(
			spellings, kind) {
			return &typeDefs{describe(reflect.TypeOf(of(v)), kind+part, styleOf(ros1))}, nil
		}
	}
	return nil, errorf("Unable to load the service type %.200s", name)
}

// now is the rig's time.
func (s *session) now() time.Duration {
	return s.server.robot.Label(s.server.robot.Sample().Time)
}
