// Bodies, how they are placed, held and moved, and what acts on them.
#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

Group bodies() {
  const Key type{"type", text(), "", Key::required, "kind of body"};
  const Key name{"name", text(), "", Key::optional,
                 "for messages, output and pairs; if omitted: type and position in the list"};
  const Key mesh{"mesh", object("mesh"), "", Key::required, "the shape"};
  const Key transform{"transform", object("transform"), "", "{}", "places the mesh in the world"};
  const Key moved_points{"moved_points", path(), "", Key::optional,
                         "mesh file, absolute or relative to the scene file, with the positions of all "
                         "points of the placed mesh, which become its rest shape; selections use the "
                         "original positions; written by apart check --fix"};
  const Key velocity{"velocity", vector(), "m/s", "[0, 0, 0]", "at the start"};
  const Key angular_velocity{"angular_velocity", vector(), "degrees/s", "[0, 0, 0]",
                             "at the start, about the centre of mass; the vector is the axis times the rate"};
  const Key fixed{"fixed", list(object("fixed")), "", "[]", "parts that are held or moved"};
  const Key motion{"motion", object("motion"), "", Key::optional, "motion of the whole body"};
  const Key friction{"friction_coefficient", friction_coefficient(), "", Key::optional,
                     "of this body; a pair without its own value has the mean of its two bodies"};
  const Key array{"array", object("array"), "", Key::optional, "makes copies, named name.0, name.1, ..."};
  const Key soft{"material", object("material"), "", R"({"type": "neo_hookean"})", "material"};
  const Key regions{"regions", list(object("region")), "", "[]",
                    "parts with another material; later ones take precedence"};
  const Key sheet{"material", object("shell_material"), "", R"({"type": "neo_hookean"})", "material"};
  const Key strain_limit{"strain_limit", object("strain_limit"), "", Key::optional,
                         "how far triangles may be stretched; if omitted: without limit"};
  const Key rest_angles{"rest_angles", choice("rest_angles"), "", "\"mesh\"",
                        "angles between triangles at rest"};
  const Key rest_mesh{"rest_mesh", any_of({object("mesh"), choice("rest_mesh")}), "", Key::optional,
                      "rest shape, scaled like the mesh: other points of the same triangles, or a pattern; "
                      "if omitted: the mesh"};
  const Key stiff{"material", object("material"), "", R"({"type": "orthogonality"})", "material"};
  const Key mass{
      "mass", choice("mass"), "", Key::optional,
      "distribution of mass over the nodes; if omitted: lumped, but consistent for a basis_order above 1"};
  const Key planar_mass{
      "mass", choice("mass"), "", Key::optional,
      "distribution of mass over the nodes; if omitted: lumped, but consistent with remesh"};
  const Key plane{"plane", choice("plane"), "", "\"strain\"", "what it does across its plane"};
  const Key depth{"depth", number(positive), "m", "1",
                  "across its plane: gives mass and stiffness; forces are those on the whole depth"};
  const Key basis_order{
      "basis_order", integer(1, 4), "", Key::optional,
      "degree of the displacements in each tetrahedron: those of degree 1 are far too "
      "stiff in bending unless there are many; if omitted: the degree of the mesh, 1 unless "
      "it is curved. Below that degree part of the shape neither turns nor stretches with "
      "the body, which a warning measures"};
  const Key quadrature_order{
      "quadrature_order", integer(1, 15), "", Key::optional,
      "degree up to which polynomials are integrated exactly, for a basis_order above 1 or a curved mesh; "
      "if omitted: 2 (basis_order - 1), or more on a curved mesh"};
  const Key collision{"collision", object("collision"), "", Key::optional,
                      "the surface that contact sees; if omitted: the boundary, each edge of it cut into "
                      "basis_order parts"};
  const Key remesh{
      "remesh", object("remesh"), "", Key::optional,
      "lets the mesh follow the solution: edges are split where that lowers the potential of a step, "
      "and collapsed where it hardly raises it; linear tetrahedra, whose mass is then consistent; if "
      "omitted: the mesh stays"};
  const Key planar_remesh{
      "remesh", object("remesh"), "", Key::optional,
      "lets the mesh follow the solution, as that of a volume; if omitted: the mesh stays"};
  const Key shell_remesh{
      "remesh", object("remesh"), "", Key::optional,
      "lets the mesh follow the solution, as that of a volume: mass is then consistent, and flat parts and "
      "creases of the rest shape stay as they are; without smoothing; if omitted: the mesh stays"};
  const Key skin{"collision", object("collision"), "", Key::optional,
                 "the surface that contact sees, which has no mass; only with a mesh; if omitted: that of "
                 "the body's mesh"};
  const Key loads{"loads", list(object("load")), "", "[]", "given forces"};
  const Key damping{"damping", object("damping"), "", "{}", "damping of motion and deformation"};
  const Key sequence{"sequence", object("sequence"), "", Key::optional,
                     "motion of the body along a sequence of mesh files"};
  const Key appears{"appears", number(not_negative), "s", "0",
                    "when the body appears, where it is placed, with its initial velocity; it must not "
                    "intersect anything then"};
  const Key disappears{"disappears", number(positive), "s", Key::optional,
                       "when it is removed; if omitted: never"};
  const Key thickness{
      "thickness", length(not_negative), "m", Key::optional,
      "of the body in contact: two bodies keep the mean of their two; if omitted: as in contact"};
  const Key diameter{
      "thickness", length(not_negative), "m", Key::optional,
      "of the body in contact: two bodies keep the mean of their two; if omitted: twice the radius"};
  const Key rod_material{"material", object("rod_material"), "", "{}", "material"};
  const Key density_only{"material", object("material"), "", R"({"type": "orthogonality"})",
                         "material, of which only the density rho is used: kg/m3 of tetrahedra and closed "
                         "surfaces, kg/m2 of open sheets, kg/m of segments, kg of each point"};
  const Key given_mass{"mass", number(positive), "kg", Key::optional,
                       "of the whole body; if omitted: from the density"};
  const Key centre{"centre", vector(), "m", Key::optional, "of mass, as placed; if omitted: of the mesh"};
  const Key inertia{
      "inertia", list(number(), 3, 6), "kg m2", Key::optional,
      "about the centre of mass, in world axes as placed: xx, yy, zz, and xy, xz, yz if not zero; "
      "if omitted: of the mesh"};
  const Key fixed_translation{"fixed_translation", any_text(), "", "\"\"",
                              "world axes along which its centre cannot move, such as \"xz\""};
  const Key fixed_rotation{"fixed_rotation", any_text(), "", "\"\"",
                           "world axes about which it cannot turn; two of them make a hinge about the third"};
  const Key rest_curvature{"rest_curvature", choice("rest_curvature"), "", "\"mesh\"", "curvature at rest"};
  const Key radius{"radius", number(positive), "m", "0.05", "of each ball"};
  const Key density{"rho", number(positive), "kg/m3", "1000", "density"};
  const Key origin{"origin", vector(), "m", "[0, 0, 0]", "a point of the plane"};
  const Key plane_motion{"motion", object("motion"), "", Key::optional,
                         "motion of the plane; it cannot rotate"};
  const Key normal{"normal", vector(), "", "[0, 1, 0]", "points out of the solid; any length except zero"};
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
  using Planar = PlanarDescription;
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
      "A body of the scene.",
      {dynamic.operator()<Volume>("soft solid made of tetrahedra",
                                  {{soft, &Volume::material},
                                   {regions, &Volume::regions},
                                   {mass, &Volume::mass},
                                   {basis_order, &Volume::basis_order},
                                   {quadrature_order, &Volume::quadrature_order},
                                   {collision, &Volume::collision},
                                   {remesh, &Volume::remesh}},
                                  thickness),
       dynamic.operator()<Planar>(
           "soft body made of triangles in a plane z = const, which nothing of it leaves; its surface is the "
           "boundary, and it touches others where they meet its plane",
           {{soft, &Planar::material},
            {regions, &Planar::regions},
            {plane, &Planar::plane},
            {depth, &Planar::depth},
            {planar_mass, &Planar::mass},
            {planar_remesh, &Planar::remesh}},
           thickness),
       dynamic.operator()<Shell>("thin sheet made of triangles: cloth, paper, sheet metal",
                                 {{sheet, &Shell::material},
                                  {strain_limit, &Shell::strain_limit},
                                  {rest_angles, &Shell::rest_angles},
                                  {rest_mesh, &Shell::rest_mesh},
                                  {shell_remesh, &Shell::remesh}},
                                 thickness),
       dynamic.operator()<Affine>(
           "stiff, nearly rigid solid with 12 coordinates; made of tetrahedra or a closed surface",
           {{stiff, &Affine::material}, {skin, &Affine::collision}}, thickness),
       dynamic.operator()<Rigid>(
           "rigid body of any mesh: tetrahedra, closed or open surfaces, segments, points, "
           "in any number of pieces",
           {{density_only, &Rigid::material},
            {given_mass, &Rigid::mass},
            {centre, &Rigid::centre},
            {inertia, &Rigid::inertia},
            {fixed_translation, &Rigid::fixed_translation},
            {fixed_rotation, &Rigid::fixed_rotation},
            {skin, &Rigid::collision}},
           thickness),
       dynamic.operator()<Rod>("elastic rods without twist: segments in any number of chains, open or "
                               "closed, with a free joint where more than two meet",
                               {{rod_material, &Rod::material}, {rest_curvature, &Rod::rest_curvature}},
                               diameter),
       dynamic.operator()<Particles>("balls that do not rotate, one at each point of the mesh",
                                     {{radius, &Particles::radius}, {density, &Particles::rho}}, diameter),
       typed<Obstacle>("triangles, segments or points that are not moved by forces", std::move(obstacle)),
       typed<HalfSpace>("solid region behind a plane", presence(std::move(half_space), thickness))}};
}

Group collisions() {
  using T = CollisionDescription;
  return record<T>(
      "The surface that a body collides with. In a volume its points follow the tetrahedra that they lie "
      "in; those of an affine or rigid body follow its motion.",
      {{{"resolution", integer(1, 30), "", Key::optional,
         "the boundary of a volume, each edge of it cut into so many parts; if omitted: basis_order, or the "
         "degree of the mesh if that is higher",
         "", "mesh"},
        &T::resolution},
       {{"mesh", object("mesh"), "", Key::optional,
         "any triangles, transformed like the body's mesh: a dense surface on few tetrahedra. Points outside "
         "follow the nearest ones",
         "", "resolution"},
        &T::mesh},
       {{"weights", path(), "", Key::optional,
         "HDF5 file, absolute or relative to the scene file, with the weights by which points of the mesh "
         "follow the nodes of a volume, as published with High-Order IPC; accepted if they reproduce the "
         "mesh; "
         "if omitted: computed",
         "", "resolution", "mesh"},
        &T::weights}});
}

Group loads() {
  const Key type{"type", text(), "", Key::required, "kind of load"};
  const Key where{"where", object("selection"), "", Key::required, "on which points"};
  const Key everywhere{"where", object("selection"), "", R"({"all": true})", "on which points"};
  const Key surface{
      "where", object("selection"), "", R"({"all": true})",
      "the surface triangles all of whose corners are selected; of a planar body the segments of "
      "its boundary"};
  const ValueType field = tuple(number_or_formula(), 3);
  return {
      "load",
      "Forces on a body, which add up: numbers, lists of [t, value] with straight lines between them, or "
      "formulas in t [s] and, except for pressure, in the "
      "initial position x, y, z [m] of a point.",
      {typed<BodyForceDescription>(
           "acceleration, added to gravity",
           with_times<BodyForceDescription>({type,
                                             {everywhere, &BodyForceDescription::where},
                                             {{"acceleration", field, "m/s2", Key::required, "x, y, z"},
                                              &BodyForceDescription::acceleration}})),
       typed<TractionDescription>(
           "force per area of the undeformed surface, with a constant direction",
           with_times<TractionDescription>(
               {type,
                {surface, &TractionDescription::where},
                {{"traction", field, "Pa", Key::required, "x, y, z"}, &TractionDescription::traction}})),
       typed<PressureDescription>(
           "force per area on the outer side of the deforming surface; negative: suction",
           with_times<PressureDescription>(
               {type,
                {surface, &PressureDescription::where},
                {{"pressure", number_or_formula(), "Pa", Key::required, "pressure"},
                 &PressureDescription::pressure}})),
       typed<WindDescription>(
           "drag of moving air, with the square of the relative speed; on the windward side of closed "
           "bodies, and on rods and particles with their radius",
           with_times<WindDescription>(
               {type,
                {everywhere, &WindDescription::where},
                {{"velocity", field, "m/s", "[0, 0, 0]", "of the air"}, &WindDescription::velocity},
                {{"density", number(positive), "kg/m3", "1.225", "of the air"}, &WindDescription::density},
                {{"drag", number(not_negative), "", "1.2",
                  "drag coefficient normal to the surface, and of balls"},
                 &WindDescription::drag},
                {{"friction", number(not_negative), "", "0.02", "drag coefficient along the surface"},
                 &WindDescription::friction}})),
       typed<PointForceDescription>(
           "force on each selected point",
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
      "Springs between bodies. They do not change contact between the two.",
      {with_key<StitchesDescription>(
           "springs between given points of a body and given points or places on edges of another, or of the "
           "same: seams that close and then hold",
           with_times<StitchesDescription>(
               {{{"stitches", any_of({path(), list(list(number(not_negative)), 1)}), "", Key::required,
                  "a file with lines \"stitch a b c t\" (OBJ or text), or a list of [a, b] and "
                  "[a, b, c, t]: point a to point b, or to (1 - t) b + t c; counted from 0"},
                 &StitchesDescription::stitches},
                {{"bodies", tuple(text(), 2), "", Key::required,
                  "the body of a, and that of b and c; twice the same name: one body"},
                 &StitchesDescription::bodies},
                {{"stiffness", number(positive), "N/m", "1000", "of each spring"},
                 &StitchesDescription::stiffness},
                {{"length", length(not_negative), "m", "0", "of each at rest"}, &StitchesDescription::length},
                {{"closing", number(not_negative), "s", "0",
                  "time over which the rest length goes from the initial length to `length`"},
                 &StitchesDescription::closing}})),
       otherwise<NearestDescription>(
           "springs from surface points of the first body to the nearest place on the second, with their "
           "initial length as rest length",
           with_times<NearestDescription>(
               {{bodies, &NearestDescription::bodies},
                {{"where", object("selection"), "", R"({"all": true})", "which points of the first body"},
                 &NearestDescription::where},
                {{"to", choice("attach_to"), "", "\"surface\"", "where on the second body"},
                 &NearestDescription::to},
                {{"max_distance", length(positive), "m", "\"1e-2 L\"",
                  "points farther away are not attached"},
                 &NearestDescription::max_distance},
                {{"stiffness", number(positive), "N/m", "1e4", "of each spring"},
                 &NearestDescription::stiffness}}))}};
}

Group remeshings() {
  using T = RemeshDescription;
  return record<T>(
      "Remeshing within each step. Energies do not depend on the length of the step.",
      {{{"criterion", choice("criterion"), "", "\"potential\"", "what decides about splits and collapses"},
        &T::criterion},
       {{"delta_split", number(), "J", "0",
         "positive, with criterion \"potential\": a split must lower the potential of the step by more"},
        &T::delta_split},
       {{"delta_collapse", number(), "J", "0",
         "not positive: a collapse may raise it by this; the nearer to 0, the fewer are undone"},
        &T::delta_collapse},
       {{"min_edge", length(positive), "m", Key::optional,
         "no edge is split into shorter ones, at rest; at least dhat; if omitted: an eighth of the shortest "
         "edge "
         "of the mesh, or dhat if that is longer"},
        &T::min_edge},
       {{"rounds", integer(1, 10), "", "2", "how often edges are split in one step, the new ones included"},
        &T::rounds},
       {{"coarsen", boolean(), "", "false",
         "points of the scene's mesh may be removed too, where the surface is flat or straight"},
        &T::coarsen},
       {{"shape_tolerance", length(not_negative), "m", Key::optional,
         "with coarsen: points of smoothly curved parts and creases may be removed as well, as long as the "
         "surface at rest is nowhere farther than this from that of the scene, nor that from it; if omitted: "
         "0, "
         "curved parts stay as they are"},
        &T::shape_tolerance},
       {{"swaps", boolean(), "", "false",
         "edges and facets inside may be replaced by those that cross them, by the rule of splits"},
        &T::swaps},
       {{"smoothing", boolean(), "", "false",
         "points inside may be moved within the body at rest, by the rule of splits"},
        &T::smoothing}});
}

Group dampings() {
  using T = DampingDescription;
  return record<T>(
      "Rayleigh damping: the force -(mass M + stiffness K) v, with K at the start of the step.",
      {{{"mass", number(not_negative), "1/s", "0", "coefficient of the mass matrix; damps all motion"},
        &T::mass},
       {{"stiffness", number(not_negative), "s", "0",
         "coefficient of the stiffness matrix; damps deformation"},
        &T::stiffness}});
}

Group sequences() {
  using T = SequenceDescription;
  return record<T>(
      "A sequence of mesh files, with linear motion in between. All have the cells and the transform of the "
      "body's mesh, which is where the body starts; the first file is reached after dt, or is the start "
      "itself if it equals the mesh.",
      {{{"files", path(), "", Key::required,
         "path, absolute or relative to the scene file, with {} for the number, such as \"frames/{}.obj\""},
        &T::files},
       {{"first", integer(0), "", "0", "number of the first file"}, &T::first},
       {{"count", integer(1), "", Key::required, "number of files; after the last the body is at rest"},
        &T::count},
       {{"dt", number(positive), "s", Key::required, "time between files"}, &T::dt}});
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
      {{{"axis", vector(), "", Key::required, "direction; any length except zero"}, &T::axis},
       {{"angle", number(), "degrees", Key::required, "counter-clockwise, seen against the axis"},
        &T::angle}});
}

Group arrays() {
  using T = ArrayDescription;
  return record<T>("Copies on a grid; the first is where the transform puts it.",
                   {{{"counts", tuple(integer(1, most_bodies), 3), "", Key::required,
                      "copies along x, y, z, with the original"},
                     &T::counts},
                    {{"spacing", vector(), "m", Key::required, "displacement between copies along x, y, z"},
                     &T::spacing}});
}

Group fixed_parts() {
  using T = FixedDescription;
  return record<T>(
      "Scripted points. Without a motion they stay where they are when the script begins. A motion begins at "
      "`from`: its t is zero then, and it is relative to where the points are then.",
      with_times<T>(
          {{{"where", object("selection"), "", Key::required, "which nodes"}, &T::where},
           {{"axes", choice("axes"), "", "\"xyz\"", "the scripted directions; the others stay free"},
            &T::axes},
           {{"motion", object("motion"), "", Key::optional, "how they move"}, &T::motion}}));
}

Group selections() {
  return {
      "selection",
      "Selects mesh points of one body, as placed by the transform. Boundaries belong to the selection.",
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
           {{{"indices", list(integer(0), 1), "", Key::required, "from 0"}, &IndexSelection::indices},
            {{"of", integer(1), "", Key::optional,
              "number of points among which they were chosen: another mesh is refused"},
             &IndexSelection::of}}),
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
           {{"normal", vector(), "", Key::required, "points to the selected side; any length except zero"},
            &T::normal}});
}

Group motions() {
  const Key center{"center", vector(), "m", Key::optional,
                   "the point to rotate about; if omitted: the centre of the body's bounding box"};
  const Key keyframes{"keyframes", list(object("keyframe"), 1), "", Key::required, "times must increase"};
  const Key translate{
      "translate", tuple(number_or_formula(), 3), "m", "[0, 0, 0]",
      "displacement; formulas may use the position x, y, z of a point when the motion begins"};
  const Key rotate{"rotate", object("turning"), "degrees", Key::optional, "rotation"};
  return {
      "motion",
      "The position of a body, or a part of it, t seconds after the motion begins, relative to where it "
      "begins; it must be zero at t = 0.",
      {with_key<KeyframeMotion>("poses at given times, with linear motion in between (the shortest way for "
                                "rotations about different axes), constant after the last",
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
      "", {{{"axis", vector(), "", Key::required, "direction; any length except zero"}, &T::axis},
           {{"angle", number_or_formula(), "degrees", Key::required, "such as \"90*t\""}, &T::angle}});
}

}  // namespace apart::catalog_parts
