// Package rtps is a participant of DDSI-RTPS 2.x, the protocol under ROS 2, without a DDS beneath: discovery (SPDP,
// SEDP), best effort and reliable writers and readers, fragments, transient local history, leases and liveliness.
//
//	p, err := rtps.New(transport, rtps.Options{Domain: 0})
//	w, err := p.NewWriter(rtps.Endpoint{Topic: "rt/chatter", Type: "std_msgs::msg::dds_::String_", Reliable: true})
//	go p.Run(ctx)
//	w.Write(payload) // CDR with its header
//
// A writer keeps its last samples, Endpoint.Depth of them; a reader that is slower loses what is older and is told so
// (GAP). Write never waits for a reader. A sample longer than the transport's datagrams is sent in fragments.
//
// # Hostile networks
//
// Nothing here is authenticated: any process that reaches the transport may take part. What it may cost is bounded:
// peers, endpoints, samples out of order, fragments and what one request has sent again. A peer is taken only at an
// address that the transport says it may send to, and speaks only for its own entities.
package rtps
