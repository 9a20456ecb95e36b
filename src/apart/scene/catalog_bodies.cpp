// Bodies, how they are placed, held and moved, and what acts on them.
#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

Group bodies() {
  const Key type{"type", text(), "", Key::required, "which kind of body"};
  const Key name{"name", text(), "", Key::optional,
                 "for messages, output and pairs; not given: type and position"};
  const Key mesh{"mesh", object("mesh"), "", Key::required, "the shape"};
  const Key transform{"transform", object("transform"), "", "{}", "places the mesh in the world"};
  const Key moved_points{
      "moved_points", path(), "", Key::optional,
      "mesh file, absolute or relative to the scene file, that says where the points of the "
      "placed mesh are instead, one by one, as the rest shape; selections choose by where they were placed; "
      "apart check --fix writes it"};
  const Key velocity{"velocity", vector(), "m/s", "[0, 0, 0]", "at the start"};
  const Key angular_velocity{"angular_velocity", vector(), "degrees/s", "[0, 0, 0]",
                             "at the start, about the centre of mass; its direction is the axis"};
  const Key fixed{"fixed", list(object("fixed")), "", "[]", "parts that are held or moved"};
  const Key motion{"motion", object("motion"), "", Key::optional, "moves the whole body as scripted"};
  const Key friction{"friction_coefficient", friction_coefficient(), "", Key::optional,
                     "of this body; a pair without a value of its own takes the mean of its two bodies'"};
  const Key array{"array", object("array"), "", Key::optional, "makes copies, named name.0, name.1, ..."};
  const Key soft{"material", object("material"), "", R"({"type": "neo_hookean"})", "what it is made of"};
  const Key regions{"regions", list(object("region")), "", "[]",
                    "parts that are made of something else; later ones win"};
  const Key sheet{"material", object("shell_material"), "", R"({"type": "neo_hookean"})",
                  "what it is made of"};
  const Key strain_limit{"strain_limit", object("strain_limit"), "", Key::optional,
                         "how far triangles may be stretched; not given: as far as they like"};
  const Key rest_angles{"rest_angles", choice("rest_angles"), "", "\"mesh\"",
                        "angles between triangles without bending"};
  const Key rest_mesh{"rest_mesh", any_of({object("mesh"), choice("rest_mesh")}), "", Key::optional,
                      "shape without strain, scaled as the mesh is: other points of the same triangles, or a "
                      "pattern; not given: the mesh"};
  const Key stiff{"material", object("material"), "", R"({"type": "orthogonality"})", "what it is made of"};
  const Key mass{"mass", choice("mass"), "", "\"lumped\"", "how mass is spread over the nodes"};
  const Key loads{"loads", list(object("load")), "", "[]", "given forces"};
  const Key damping{"damping", object("damping"), "", "{}", "takes energy out of motion and deformation"};
  const Key sequence{"sequence", object("sequence"), "", Key::optional, "moves the body along mesh files"};
  const Key appears{
      "appears", number(not_negative), "s", "0",
      "when the body comes in, where it is placed, with its initial velocity; nothing may be there then"};
  const Key disappears{"disappears", number(positive), "s", Key::optional,
                       "when it is taken out; not given: never"};
  const Key thickness{"thickness", length(not_negative), "m", Key::optional,
                      "of the body in contact: two bodies keep the mean of theirs; not given: as in contact"};
  const Key diameter{
      "thickness", length(not_negative), "m", Key::optional,
      "of the body in contact: two bodies keep the mean of theirs; not given: twice the radius"};
  const Key rod_material{"material", object("rod_material"), "", "{}", "what it is made of"};
  const Key density_only{"material", object("material"), "", R"({"type": "orthogonality"})",
                         "what it is made of; only its density rho counts: kg/m3 of tetrahedra and closed "
                         "surfaces, kg/m2 of open sheets, kg/m of segments, kg of each point"};
  const Key given_mass{"mass", number(positive), "kg", Key::optional, "of the whole; not given: by density"};
  const Key centre{"centre", vector(), "m", Key::optional, "of mass, as placed; not given: of the mesh"};
  const Key inertia{
      "inertia", list(number(), 3, 6), "kg m2", Key::optional,
      "about the centre of mass, in world axes as placed: xx, yy, zz, and xy, xz, yz if not zero; "
      "not given: of the mesh"};
  const Key fixed_translation{"fixed_translation", any_text(), "", "\"\"",
                              "world axes along which its centre does not move, such as \"xz\""};
  const Key fixed_rotation{
      "fixed_rotation", any_text(), "", "\"\"",
      "world axes about which it does not turn; two of them make a hinge about the third"};
  const Key rest_curvature{"rest_curvature", choice("rest_curvature"), "", "\"mesh\"",
                           "how bent it is at rest"};
  const Key radius{"radius", number(positive), "m", "0.05", "of each ball"};
  const Key density{"rho", number(positive), "kg/m3", "1000", "density"};
  const Key origin{"origin", vector(), "m", "[0, 0, 0]", "a point of the plane"};
  const Key plane_motion{"motion", object("motion"), "", Key::optional, "moves the plane; it cannot turn"};
  const Key normal{"normal", vector(), "", "[0, 1, 0]", "points out of the solid; any length but zero"};
  // Keys that several kinds of bodies have, in the order in which they are written.
  const auto presence = [&]<class T>(Keys<T> keys, const Key& thick) {
    keys.insert(keys.end(), {{friction, &T::friction_coefficient},
                             {thick, &T::thickness},
                             {appears, &T::appears},
                             {disappears, &T::disappears}});
    return keys;
  };
  const auto dynamic = [&]<class T>(std::string_view summary, const Keys<T>& own, const Key& thick) {
    Keys<T> keys{type,
                 {name, &T::name},
                 {mesh, &T::mesh},
                 {transform, &T::transform},
                 {moved_points, &T::moved_points}};
    keys.insert(keys.end(), own.begin(), own.end());
    keys.insert(keys.end(), {{velocity, &T::velocity},
                             {angular_velocity, &T::angular_velocity},
                             {fixed, &T::fixed},
                             {motion, &T::motion},
                             {loads, &T::loads},
                             {damping, &T::damping}});
    keys = presence(std::move(keys), thick);
    keys.push_back({array, &T::array});
    return typed<T>(summary, std::move(keys));
  };
  using Volume = VolumeDescription;
  using Shell = ShellDescription;
  using Affine = AffineDescription;
  using Rigid = RigidDescription;
  using Rod = RodDescription;
  using Particles = ParticlesDescription;
  using Obstacle = ObstacleDescription;
  using HalfSpace = HalfSpaceDescription;
  Keys<Obstacle> obstacle{type,
                          {name, &Obstacle::name},
                          {mesh, &Obstacle::mesh},
                          {transform, &Obstacle::transform},
                          {motion, &Obstacle::motion},
                          {sequence, &Obstacle::sequence}};
  obstacle = presence(std::move(obstacle), thickness);
  obstacle.push_back({array, &Obstacle::array});
  Keys<HalfSpace> half_space{type,
                             {name, &HalfSpace::name},
                             {origin, &HalfSpace::origin},
                             {normal, &HalfSpace::normal},
                             {plane_motion, &HalfSpace::motion}};
  return {
      "body",
      "One thing in the scene.",
      {dynamic.operator()<Volume>(
           "soft solid made of tetrahedra",
           {{soft, &Volume::material}, {regions, &Volume::regions}, {mass, &Volume::mass}}, thickness),
       dynamic.operator()<Shell>("thin sheet made of triangles: cloth, paper, sheet metal",
                                 {{sheet, &Shell::material},
                                  {strain_limit, &Shell::strain_limit},
                                  {rest_angles, &Shell::rest_angles},
                                  {rest_mesh, &Shell::rest_mesh}},
                                 thickness),
       dynamic.operator()<Affine>(
           "stiff, nearly rigid solid with 12 coordinates; made of tetrahedra or a closed surface",
           {{stiff, &Affine::material}}, thickness),
       dynamic.operator()<Rigid>(
           "rigid body of any mesh: tetrahedra, closed or open surfaces, segments, points, "
           "in any number of pieces",
           {{density_only, &Rigid::material},
            {given_mass, &Rigid::mass},
            {centre, &Rigid::centre},
            {inertia, &Rigid::inertia},
            {fixed_translation, &Rigid::fixed_translation},
            {fixed_rotation, &Rigid::fixed_rotation}},
           thickness),
       dynamic.operator()<Rod>(
           "elastic rods without twist: segments in any number of chains, open or closed; where more "
           "than two meet is a free joint",
           {{rod_material, &Rod::material}, {rest_curvature, &Rod::rest_curvature}}, diameter),
       dynamic.operator()<Particles>("balls that do not turn, one at each point of the mesh",
                                     {{radius, &Particles::radius}, {density, &Particles::rho}}, diameter),
       typed<Obstacle>("triangles, segments or points that push but are not pushed", std::move(obstacle)),
       typed<HalfSpace>("everything behind a plane is solid", presence(std::move(half_space), thickness))}};
}

Group loads() {
  const Key type{"type", text(), "", Key::required, "which kind of load"};
  const Key where{"where", object("selection"), "", Key::required, "on which points"};
  const Key everywhere{"where", object("selection"), "", R"({"all": true})", "on which points"};
  const Key surface{"where", object("selection"), "", R"({"all": true})",
                    "on the triangles of the surface all corners of which are chosen"};
  const ValueType field = tuple(number_or_formula(), 3);
  return {
      "load",
      "Forces on a body. Numbers, or formulas in t [s] and, but for pressure, in the initial place x, y, z "
      "[m] of a "
      "point. They add up.",
      {typed<BodyForceDescription>(
           "acceleration of the mass, like gravity and besides it",
           with_times<BodyForceDescription>({type,
                                             {everywhere, &BodyForceDescription::where},
                                             {{"acceleration", field, "m/s2", Key::required, "x, y, z"},
                                              &BodyForceDescription::acceleration}})),
       typed<TractionDescription>(
           "force per area of the undeformed surface, in a direction that does not turn",
           with_times<TractionDescription>(
               {type,
                {surface, &TractionDescription::where},
                {{"traction", field, "Pa", Key::required, "x, y, z"}, &TractionDescription::traction}})),
       typed<PressureDescription>(
           "force per area against the outer side of the surface as it deforms; negative: suction",
           with_times<PressureDescription>(
               {type,
                {surface, &PressureDescription::where},
                {{"pressure", number_or_formula(), "Pa", Key::required, "pressure"},
                 &PressureDescription::pressure}})),
       typed<WindDescription>(
           "air that moves, and resists what moves through it, with the square of the speed; of closed "
           "bodies the "
           "side towards it; on rods and particles with their radius",
           with_times<WindDescription>(
               {type,
                {everywhere, &WindDescription::where},
                {{"velocity", field, "m/s", "[0, 0, 0]", "of the air"}, &WindDescription::velocity},
                {{"density", number(positive), "kg/m3", "1.225", "of the air"}, &WindDescription::density},
                {{"drag", number(not_negative), "", "1.2",
                  "coefficient of the speed across the surface, and of balls"},
                 &WindDescription::drag},
                {{"friction", number(not_negative), "", "0.02", "coefficient of the speed along the surface"},
                 &WindDescription::friction}})),
       typed<PointForceDescription>(
           "force on each point chosen",
           with_times<PointForceDescription>(
               {type,
                {where, &PointForceDescription::where},
                {{"force", field, "N", Key::required, "x, y, z, on each"}, &PointForceDescription::force}})),
       typed<TorqueDescription>(
           "torque on the whole body, about its centre of mass, in world axes",
           with_times<TorqueDescription>({type,
                                          {{"torque", field, "N m", Key::required, "x, y, z; formulas in t"},
                                           &TorqueDescription::torque}}))}};
}

Group attachments() {
  const Key bodies{"bodies", tuple(text(), 2), "", Key::required, "two names"};
  return {
      "attachment",
      "Springs between bodies. Contact between the two is not changed.",
      {with_key<StitchesDescription>(
           "springs between given points of a body and given points or places on edges of another, or of the "
           "same: seams, which close and then hold",
           with_times<StitchesDescription>(
               {{{"stitches", any_of({path(), list(list(number(not_negative)), 1)}), "", Key::required,
                  "a file with lines \"stitch a b c t\" (OBJ or text), or a list of [a, b] and "
                  "[a, b, c, t]: point a to point b, or to (1 - t) b + t c; counted from 0"},
                 &StitchesDescription::stitches},
                {{"bodies", tuple(text(), 2), "", Key::required,
                  "the bodies of a, and of b and c; the same twice: of one body"},
                 &StitchesDescription::bodies},
                {{"stiffness", number(positive), "N/m", "1000", "of each spring"},
                 &StitchesDescription::stiffness},
                {{"length", length(not_negative), "m", "0", "of each at rest"}, &StitchesDescription::length},
                {{"closing", number(not_negative), "s", "0",
                  "time over which the length at rest goes from that at the start to `length`"},
                 &StitchesDescription::closing}})),
       otherwise<NearestDescription>(
           "springs from surface points of the first body to the nearest place on the second, as long at "
           "rest as "
           "at the start: they hold what is near",
           with_times<NearestDescription>(
               {{bodies, &NearestDescription::bodies},
                {{"where", object("selection"), "", R"({"all": true})", "which points of the first body"},
                 &NearestDescription::where},
                {{"to", choice("attach_to"), "", "\"surface\"", "where on the second body"},
                 &NearestDescription::to},
                {{"max_distance", length(positive), "m", "\"1e-2 L\"",
                  "points farther apart are not attached"},
                 &NearestDescription::max_distance},
                {{"stiffness", number(positive), "N/m", "1e4", "of each spring"},
                 &NearestDescription::stiffness}}))}};
}

Group dampings() {
  using T = DampingDescription;
  return record<T>(
      "Rayleigh damping: the force -(mass M + stiffness K) v, with K of the start of the step.",
      {{{"mass", number(not_negative), "1/s", "0", "share of the mass matrix; damps motion as a whole"},
        &T::mass},
       {{"stiffness", number(not_negative), "s", "0", "share of the stiffness matrix; damps deformation"},
        &T::stiffness}});
}

Group sequences() {
  using T = SequenceDescription;
  return record<T>(
      "Mesh files, one per instant, linear in between. All have the cells of the body's mesh, and get its "
      "transform. The "
      "mesh is where the body starts; the first file is reached after dt, or is the start itself if it "
      "equals the mesh.",
      {{{"files", path(), "", Key::required,
         "path, absolute or relative to the scene file, with {} for the number, such as \"frames/{}.obj\""},
        &T::files},
       {{"first", integer(0), "", "0", "number of the first file"}, &T::first},
       {{"count", integer(1), "", Key::required, "number of files; after the last the body rests"},
        &T::count},
       {{"dt", number(positive), "s", Key::required, "time from file to file"}, &T::dt}});
}

Group transforms() {
  using T = TransformDescription;
  return record<T>(
      "Applied in this order: scale, rotate, translate.",
      {{{"scale", any_of({number(positive), vector(positive)}), "", "1", "one factor, or x, y, z"},
        &T::scale},
       {{"rotate", rotation(), "degrees", "[0, 0, 0]", "about the x axis, then y, then z; or axis and angle"},
        &T::rotate},
       {{"translate", vector(), "m", "[0, 0, 0]", "displacement"}, &T::translate}});
}

Group axis_angles() {
  using T = AxisAngleDescription;
  return record<T>(
      "A rotation.",
      {{{"axis", vector(), "", Key::required, "direction; any length but zero"}, &T::axis},
       {{"angle", number(), "degrees", Key::required, "counter-clockwise when looking against the axis"},
        &T::angle}});
}

Group arrays() {
  using T = ArrayDescription;
  return record<T>(
      "Copies on a grid; the first stays where the transform puts it.",
      {{{"counts", tuple(integer(1, most_bodies), 3), "", Key::required,
         "copies along x, y, z, with the original"},
        &T::counts},
       {{"spacing", vector(), "m", Key::required, "displacement from copy to copy along x, y, z"},
        &T::spacing}});
}

Group fixed_parts() {
  using T = FixedDescription;
  return record<T>(
      "Nodes whose position is given. Without a motion they stay where they are when it begins. A "
      "motion begins with "
      "`from`: its t is zero then, and it is relative to where the nodes are then.",
      with_times<T>(
          {{{"where", object("selection"), "", Key::required, "which nodes"}, &T::where},
           {{"axes", choice("axes"), "", "\"xyz\"", "the directions that are given; the others stay free"},
            &T::axes},
           {{"motion", object("motion"), "", Key::optional, "how they move"}, &T::motion}}));
}

Group selections() {
  return {
      "selection",
      "Chooses mesh points of one body, where the transform has put them. Boundaries belong to the "
      "selection.",
      {with_key<BoxSelection>("points in a box",
                              {{{"box", object("box"), "", Key::required, "the box"}, &BoxSelection::box}}),
       with_key<SphereSelection>(
           "points in a ball",
           {{{"sphere", object("ball"), "", Key::required, "the ball"}, &SphereSelection::sphere}}),
       with_key<PlaneSelection>(
           "points on the side of a plane that its normal points to",
           {{{"plane", object("plane"), "", Key::required, "the plane"}, &PlaneSelection::plane}}),
       with_key<IndexSelection>(
           "points by their position in the mesh",
           {{{"indices", list(integer(0), 1), "", Key::required, "from 0"}, &IndexSelection::indices}}),
       with_key<IndexFileSelection>(
           "points by their position in the mesh, listed in a text file",
           {{{"index_file", path(), "", Key::required,
              "path, absolute or relative to the scene file; whole numbers from 0 between blanks"},
             &IndexFileSelection::index_file}}),
       with_key<ExpressionSelection>(
           "points where a formula in x, y, z [m] is true",
           {{{"expression", formula(), "", Key::required, "such as \"x < 0.1 && y > 0\""},
             &ExpressionSelection::expression}}),
       with_key<GroupSelection>("points of the cells of a named group of the mesh file",
                                {{{"group", text(), "", Key::required,
                                   "name of a physical group of a Gmsh file; without a name: \"surface 3\""},
                                  &GroupSelection::name}}),
       with_key<AllSelection>("every point",
                              {{{"all", boolean(), "", Key::required, "true"}, &AllSelection::all}})}};
}

Group boxes() {
  using T = BoxDescription;
  return record<T>(
      "", {{{"min", vector(), "m", Key::required, "lower corner"}, &T::min},
           {{"max", vector(), "m", Key::required, "upper corner"}, &T::max},
           {{"relative", boolean(), "", "false", "corners are fractions of the body's bounding box, 0 to 1"},
            &T::relative}});
}

Group balls() {
  using T = BallDescription;
  return record<T>("", {{{"center", vector(), "m", Key::required, "centre"}, &T::center},
                        {{"radius", number(positive), "m", Key::required, "radius"}, &T::radius}});
}

Group planes() {
  using T = PlaneDescription;
  return record<T>(
      "", {{{"origin", vector(), "m", Key::required, "a point of the plane"}, &T::origin},
           {{"normal", vector(), "", Key::required, "points to the chosen side; any length but zero"},
            &T::normal}});
}

Group motions() {
  const Key center{"center", vector(), "m", Key::optional,
                   "the point to turn about; not given: the centre of the body's bounding box"};
  const Key keyframes{"keyframes", list(object("keyframe"), 1), "", Key::required, "times must increase"};
  const Key translate{"translate", tuple(number_or_formula(), 3), "m", "[0, 0, 0]",
                      "displacement; formulas may use the place x, y, z of a point when the motion begins"};
  const Key rotate{"rotate", object("turning"), "degrees", Key::optional, "rotation"};
  return {
      "motion",
      "Where a body, or a part of it, is t seconds after the motion begins, relative to where it begins. At "
      "t = 0 "
      "it must be there.",
      {with_key<KeyframeMotion>(
           "poses at given times: linear in between (the shortest way for rotations about different axes), "
           "constant after the last",
           {{keyframes, &KeyframeMotion::keyframes}, {center, &KeyframeMotion::center}}),
       otherwise<FormulaMotion>("formulas in t [s]", {{translate, &FormulaMotion::translate},
                                                      {rotate, &FormulaMotion::rotate},
                                                      {center, &FormulaMotion::center}})}};
}

Group keyframes() {
  using T = KeyframeDescription;
  return record<T>("",
                   {{{"t", number(not_negative), "s", Key::required, "time"}, &T::t},
                    {{"translate", vector(), "m", "[0, 0, 0]", "displacement from the start"}, &T::translate},
                    {{"rotate", rotation(), "degrees", "[0, 0, 0]", "rotation from the start"}, &T::rotate}});
}

Group turnings() {
  using T = TurningDescription;
  return record<T>(
      "", {{{"axis", vector(), "", Key::required, "direction; any length but zero"}, &T::axis},
           {{"angle", number_or_formula(), "degrees", Key::required, "such as \"90*t\""}, &T::angle}});
}

}  // namespace apart::catalog_parts
