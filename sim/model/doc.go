// Package model describes robots and scenes as data: bodies, joints, actuators, masses, shapes, and the names that the
// original simulator uses. The built-in robots are YAML files in this folder; Parse reads any robot file in YAML,
// OpenFile and ParseFile those in XML (URDF).
//
// A robot without bodies is a row of servos, each with the load that its joint names. With bodies it is a tree,
// described in the built pose, with all joints at 0. All positions are in the robot's frame: metres, z up.
//
//	name: nodder
//	supply: {volts: 12, ohms: 0.1}
//	base: floating               # or fixed: the root body does not move
//
//	materials:
//	  default: {friction: 0.5}   # a coefficient, for shapes that name none
//	  rubber: {friction: 1, torsion_m: 0.002}
//	  ice: {force_n: 0.1}        # a friction force, for any load, as in the original Simloid
//
//	bodies:                      # mass_kg or density_kgm3 of the whole, or mass_kg of each shape
//	  - name: trunk
//	    position_m: [0, 0, 0.1]  # of the body's frame; rotation_deg: [roll, pitch, yaw] turns it
//	    density_kgm3: 500
//	    shapes:                  # sphere: radius; capsule, cylinder: [radius, length]; box: [x, y, z]
//	      - {box: [0.1, 0.1, 0.19], material: rubber}
//	      - {capsule: [0.01, 0.1], along: x, at_m: [0, 0, 0.09], collides: false}
//	  - name: head
//	    position_m: [0, 0, 0.25]
//	    mass_kg: 0.2
//	    com_m: [0.01, 0, 0]      # if it differs from the shapes'; inertia_kgm2: [xx, yy, zz, xy, xz, yz] likewise
//	    shapes: [{sphere: 0.04}]
//	    random: {mass: 10%, friction: 20%}
//
//	joints:                      # in motor order
//	  - name: nod
//	    path: /Head/Tilt         # its name in the original simulator
//	    servo: MODEL
//	    limits_deg: [-45, 45]
//	    stops_deg: [-50, 50]
//	    parent: trunk
//	    child: head
//	    anchor_m: [0, 0, 0.2]    # a point of the axis
//	    axis: [0, 1, 0]          # the child turns about it by sign (1 or -1) times the joint's position
//	    random: {strength: 15%}  # of the motor's torque constant; friction and damping too, if the joint has them
//
//	accelerometers:
//	  - {name: balance, body: head, at_m: [0, 0, 0.02], axes: [+x, +z], range_g: 2}
//
// Random values are drawn at each reset, uniformly within ± the given share of the file's value: Robot.Draw.
//
// Also supported: passive joints (hinge, slide, weld; mimic), mirrors (the joint's image on the other side), no_contact
// (pairs of bodies), joint_defaults, motor: simloid-rx-28 with its torque_factor in place of a servo, and simloid: the
// robot's id there. The files simloid/*.yaml are the fourteen robots of the original Simloid of 2016; comments in them
// note unexpected values of the original.
//
// A scene may be filled with water, and have objects with a class for the object detector. It may have a course of
// start, checkpoint, no-go, finish and action zones (course.go; scenes/pool.yaml has all of it). Materials may have a
// colour.
//
// # Readers of other robot files
//
// A reader fills a description (description.go) and nothing else; ParseFile chooses it by the root element of the file.
// The description is then checked, repaired and made a Robot, in one place for all readers: checked, base, meshes,
// repairAxes, repairMasses, repairDrives, rename, bodies, joints, separate. What a reader must know:
//
//   - a part is a link with its pose in its parent's frame, all joints at 0. The parts may come in any order; exactly one has
//     no joint (part.joint, what faults call its connection: `joint "elbow"`, or `body "arm"`): the root. A file whose
//     bodies stand in a world has a root part for that world; description.free says that the root itself moves freely;
//   - part.axes are the joints between a part and its parent, from the parent outwards, each with anchor and direction in the
//     part's own frame in the built pose. No axes: fixed to the parent, and one body with it. All but the last get a body
//     without mass. Names of axes are those of joints;
//   - axis.limits is what the file says, in rad or m; nil is none. The rules for limits that cannot be meant (0..0, reversed,
//     far) are the repairer's; a reader whose format has other rules leaves them nil. endless: a turn without end;
//   - drives are the motors. An axis with one becomes a Joint, the others Passive. Torque or velocity 0 is unknown;
//   - axis.follows couples an axis to another: times the leader plus plus;
//   - part.mass nil means not stated: it comes from part.solids, at their density or 1000 kg/m³, if the part moves.
//     inertial.inertia nil likewise;
//   - solidPart.mesh names a file, found by FileOptions.Open; the builder makes it a hull (or a thin box if it is flat) about
//     its centre of mass. visuals are drawn, and their faults do not count;
//   - every part, axis and solid has its place: file and line. fault is for what makes the file unusable, repair for a value
//     that is replaced, note for what is left out. A reader reports faults and notes; repairs are made after it.
//
// Lengths, masses and inertias are SI. Angles are degrees in the files, as the key's name shows, and radians everywhere
// else.
package model
