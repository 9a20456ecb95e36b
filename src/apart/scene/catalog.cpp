#include <apart/scene/catalog_parts.hpp>

namespace apart {

namespace {

using namespace catalog_parts;

Group scene() {
  using T = SceneDescription;
  return record<T>(
      "The whole file. SI units throughout; angles are degrees.",
      {{{"$schema", text(), "", Key::optional, "for editors that check while typing; ignored"}, &T::schema},
       {{"version", integer(1, 1), "", Key::required, "of the scene format", "this program reads version 1"},
        &T::version},
       {{"name", text(), "", Key::optional, "of the scene; if omitted: the name of the file"}, &T::name},
       {{"description", any_text(), "", "\"\"", "one line of description"}, &T::description},
       {{"time", object("time"), "", Key::required, "duration and time step"}, &T::time},
       {{"gravity", vector(), "m/s2", "[0, -9.81, 0]", "gravitational acceleration"}, &T::gravity},
       {{"bodies", list(object("body"), 1, most_bodies), "", Key::required,
         "the bodies; at most 100 000, copies included"},
        &T::bodies},
       {{"attachments", list(object("attachment")), "", "[]", "springs between bodies"}, &T::attachments},
       {{"joints", list(object("joint")), "", "[]", "joints between bodies, or of a body with the world"},
        &T::joints},
       {{"contact", object("contact"), "", "{}", "contact and friction"}, &T::contact},
       {{"probes", list(object("probe")), "", "[]", "quantities measured after every step"}, &T::probes},
       {{"solver", object("solver"), "", "{}", "how each step is solved"}, &T::solver},
       {{"output", object("output"), "", "{}", "output files"}, &T::output}});
}

Group time_steps() {
  using T = TimeDescription;
  return record<T>(
      "Either `tend` or `steps` gives the duration.",
      {{{"dt", number(positive), "s", "0.01", "time step"}, &T::dt},
       {{"tend", number(positive), "s", Key::optional, "simulated time; the last step may go beyond it"},
        &T::tend},
       {{"steps", integer(1), "", Key::optional, "number of time steps"}, &T::steps},
       {{"max_motion", number(not_negative), "", "0.25",
         "how far two colliding pieces may move relative to each other in a whole step, in widths of the "
         "smaller one; where they move farther the step is divided; 0: steps are never divided"},
        &T::max_motion},
       {{"integrator", choice("integrator"), "", "\"implicit_euler\"", "time integration"}, &T::integrator},
       {{"beta", number({0, 0.5, true, false}), "", Key::optional, "of newmark; if omitted: 0.25"}, &T::beta},
       {{"gamma", number({0.5, 1}), "", Key::optional,
         "of newmark; if omitted: 0.5; larger values damp, with first-order accuracy"},
        &T::gamma},
       {{"spectral_radius", number({0, 1}), "", Key::optional,
         "of generalized_alpha; if omitted: 0.5; share of a vibration too fast for the step that remains "
         "after it; 0 damps most, 1 not at all"},
        &T::spectral_radius},
       {{"conserve_spin", boolean(), "", "false",
         "true: rigid bodies keep their angular momentum in free flight; false: implicit_euler slows fast "
         "spins down, as published. For implicit_euler only"},
        &T::conserve_spin}});
}

Group probes() {
  const Key name{"name", text(), "", Key::required, "heading of its columns"};
  const Key type{"type", text(), "", Key::required, "quantity"};
  const Key body{"body", text(), "", Key::required,
                 "name of the body; the name of an array without a number means all copies together"};
  const Key bodies{"bodies", tuple(text(), 2), "", Key::required, R"(two names; "*" for all others)"};
  const Key where{"where", object("selection"), "", R"({"all": true})", "which points of the body"};
  const auto of_body = [&]<class T>(std::string_view summary) {
    return typed<T>(summary, {type, {name, &T::name}, {body, &T::body}});
  };
  const auto of_points = [&]<class T>(std::string_view summary) {
    return typed<T>(summary, {type, {name, &T::name}, {body, &T::body}, {where, &T::where}});
  };
  const auto of_two = [&]<class T>(std::string_view summary) {
    return typed<T>(summary, {type, {name, &T::name}, {bodies, &T::bodies}});
  };
  return {
      "probe",
      "Something to measure after every step: columns NAME.x, NAME.y, ... of probes.csv in the run "
      "directory, in SI units.",
      {of_points.operator()<PositionProbe>("mean position of points; columns x, y, z [m]"),
       of_points.operator()<DisplacementProbe>(
           "mean displacement of points from where they were placed; columns x, y, z [m]"),
       of_points.operator()<VelocityProbe>("mean velocity of points; columns x, y, z [m/s]"),
       of_body.operator()<MomentumProbe>(
           "columns x, y, z [kg m/s], and about the origin angular_x, angular_y, angular_z [kg m2/s]"),
       of_body.operator()<EnergyProbe>(
           "columns kinetic, elastic, gravity, and spin: the part of kinetic that is motion about the centre "
           "of mass of each body [J]"),
       of_points.operator()<ReactionProbe>(
           "total force on the body by which points are held or moved; columns x, y, z [N]; for an obstacle: "
           "the force that holds it against contact"),
       of_two.operator()<ContactProbe>(
           "force of the second body on the first; columns normal_x, normal_y, normal_z, friction_x, "
           "friction_y, friction_z, and pressing: the sum of all normal force magnitudes [N]"),
       of_body.operator()<PressureProbe>(
           "pressure of contact on the surface of the body: columns largest, of the points, and mean over "
           "the "
           "touched area [Pa], and that area [m2]; a point bears the normal forces on it on a third of the "
           "triangles around it"),
       of_two.operator()<GapProbe>("smallest distance of two bodies minus their thickness; column gap [m]"),
       of_body.operator()<StrainProbe>("columns largest, of |stretch - 1|; volume_ratio, the smallest; "
                                       "stretch and compression, the largest "
                                       "of stretch - 1 and of 1 - stretch"),
       typed<JointProbe>(
           "force with which a joint acts on its first body; columns force_x, force_y, force_z [N], about "
           "its "
           "point torque_x, torque_y, torque_z [N m], position [m] and angle [degrees] of the first body "
           "against the second, and error [m or rad]; zeros before it begins and after it has broken",
           {type,
            {name, &JointProbe::name},
            {{"joint", text(), "", Key::required, "name of the joint"}, &JointProbe::joint}})}};
}

Group contacts() {
  using T = ContactDescription;
  return record<T>(
      "",
      {{{"dhat", any_of({length(positive), choice("dhat")}), "m", "\"auto\"",
         "distance at which the contact force begins"},
        &T::dhat},
       {{"thickness", any_of({length(not_negative), choice("contact_thickness")}), "m", "\"auto\"",
         "distance always kept, for bodies without a thickness of their own; contact begins at thickness "
         "+ dhat"},
        &T::thickness},
       {{"formulation", choice("formulation"), "", "\"published\"", "how pairs of primitives count"},
        &T::formulation},
       {{"barrier_stiffness", any_of({number(positive), choice("barrier_stiffness")}), "Pa", "\"adaptive\"",
         "stiffness of the contact force. convergent: the pressure at 0.78 of dhat (four times this at half "
         "of it); a tenth of Young's modulus is usual. published: that of IPC, which contains the squared "
         "time "
         "step and depends on the mesh"},
        &T::barrier_stiffness},
       {{"friction_coefficient", friction_coefficient(), "", "0",
         "mu where neither the body nor the pair has its own"},
        &T::friction_coefficient},
       {{"epsv", any_of({length(positive), choice("epsv")}), "m/s", "\"auto\"",
         "speed below which friction is static; L means L per second"},
        &T::epsv},
       {{"friction_iterations", integer(0, 1000), "", "1",
         "updates of the friction forces per step, or fewer if they settle; 0: until they settle, at most "
         "60"},
        &T::friction_iterations},
       {{"allow_nested", boolean(), "", "false",
         "true: bodies may be inside solids, at the start or when they appear"},
        &T::allow_nested},
       {{"pairs", list(object("pair")), "", "[]",
         "exceptions for pairs of bodies; later ones take precedence"},
        &T::pairs}});
}

Group frictions() {
  using T = FrictionDescription;
  return record<T>(
      "Coefficients of static and kinetic friction. Friction falls from one to the other between epsv and "
      "ten times epsv. A single number is both.",
      {{{"static", number(not_negative), "", Key::required, "coefficient while sticking"}, &T::sticking},
       {{"kinetic", number(not_negative), "", Key::required,
         "coefficient while sliding; no more than static"},
        &T::sliding}});
}

Group pairs() {
  using T = PairDescription;
  return record<T>(
      "Omitted keys are as for all pairs.",
      {{{"bodies", tuple(text(), 2), "", Key::required,
         "two names; the same twice: the body with itself and its copies; \"*\": every body"},
        &T::bodies},
       {{"enabled", boolean(), "", "true", "false: no contact, the two may overlap"}, &T::enabled},
       {{"friction_coefficient", friction_coefficient(), "", Key::optional, "mu of this pair"},
        &T::friction_coefficient},
       {{"dhat", length(positive), "m", Key::optional, "as in contact"}, &T::dhat},
       {{"thickness", length(not_negative), "m", Key::optional, "as in contact"}, &T::thickness}});
}

Group solvers() {
  using T = SolverDescription;
  return record<T>(
      "",
      {{{"tolerance", any_of({length(positive), choice("tolerance")}), "m/s", "\"auto\"",
         "a step is solved when the Newton step divided by dt is smaller; L means L per second"},
        &T::tolerance},
       {{"force_tolerance", number(positive), "", "1e-3",
         "... and when the largest unbalanced force on a node is a smaller share of the largest force on its "
         "body"},
        &T::force_tolerance},
       {{"termination", choice("termination"), "", "\"balanced\"", "when a step is solved"}, &T::termination},
       {{"max_iterations", integer(1), "", "1000", "Newton iterations after which a step counts as failed"},
        &T::max_iterations},
       {{"slow_iterations", integer(1), "", "100",
         "Newton iterations in a step after which the run reports what slows it down"},
        &T::slow_iterations},
       {{"linear_solver", choice("linear_solver"), "", "\"cholesky\"", "linear solver"}, &T::linear_solver},
       {{"ordering", choice("ordering"), "", "\"auto\"", "elimination order of a direct solver"},
        &T::ordering},
       {{"broad_phase", choice("broad_phase"), "", "\"bvh\"", "broad phase"}, &T::broad_phase},
       {{"candidate_reuse", boolean(), "", "true",
         "candidate pairs are found with a margin and kept while motion stays within it; changes no result"},
        &T::candidate_reuse},
       {{"ccd", choice("ccd"), "", "\"additive\"", "continuous collision detection method"}, &T::ccd},
       {{"ccd_culling", choice("ccd_culling"), "", "\"near_first\"",
         "which pairs are tested to bound a step"},
        &T::ccd_culling},
       {{"sleeping", number({0, 1}), "", "0",
         "bodies slower than this share of tolerance sleep: they cost little until something wakes them; 0: "
         "none does"},
        &T::sleeping}});
}

Group outputs() {
  using T = OutputDescription;
  return record<T>(
      "", {{{"every", integer(1), "steps", "1",
             "number of steps between frames; the first and the last state are always written"},
            &T::every},
           {{"formats", list(choice("format")), "", "[\"vtu\"]", "VTU is always written, others in addition"},
            &T::formats},
           {{"checkpoint_seconds", number(not_negative), "s", "10",
             "wall time between checkpoints, which are written at the ends of steps; the last two are kept"},
            &T::checkpoint_seconds},
           {{"checkpoint_steps", integer(1), "steps", Key::optional,
             "number of steps between checkpoints, in addition"},
            &T::checkpoint_steps}});
}

Catalog make_catalog() {
  return {{scene(),           time_steps(),    bodies(),
           collisions(),      meshes(),        tetrahedralizations(),
           transforms(),      axis_angles(),   arrays(),
           materials(),       fields(),        regions(),
           shell_materials(), strain_limits(), rod_materials(),
           fixed_parts(),     loads(),         attachments(),
           joints(),          ball_angles(),   joint_angles(),
           joint_positions(), angle_motors(),  position_motors(),
           probes(),          dampings(),      remeshings(),
           sequences(),       selections(),    boxes(),
           balls(),           planes(),        motions(),
           keyframes(),       turnings(),      contacts(),
           frictions(),       pairs(),         solvers(),
           outputs()},
          choices()};
}

template <class T>
const T& named(const std::vector<T>& list, std::string_view name) {
  for (const T& entry : list)
    if (entry.name == name) return entry;
  throw InvariantError(fmt::format("the catalog has no '{}'", name));
}

}  // namespace

ValueType::ValueType() = default;
ValueType::ValueType(Kind kind_, Range range_, std::string_view name_, std::vector<ValueType> of_,
                     std::size_t min_size_, std::size_t max_size_)
    : kind(kind_), range(range_), name(name_), of(std::move(of_)), min_size(min_size_), max_size(max_size_) {}
ValueType::ValueType(const ValueType&) = default;
ValueType::ValueType(ValueType&&) noexcept = default;
ValueType& ValueType::operator=(const ValueType&) = default;
ValueType& ValueType::operator=(ValueType&&) noexcept = default;
ValueType::~ValueType() = default;

Key::Key(std::string_view name_, ValueType type_, std::string_view unit_, std::string_view fallback_,
         std::string_view summary_, std::string_view advice_, std::string_view excludes_,
         std::string_view needs_)
    : name(name_),
      type(std::move(type_)),
      unit(unit_),
      fallback(fallback_),
      summary(summary_),
      advice(advice_),
      excludes(excludes_),
      needs(needs_) {}
Key::Key(const Key&) = default;
Key::Key(Key&&) noexcept = default;
Key& Key::operator=(const Key&) = default;
Key& Key::operator=(Key&&) noexcept = default;
Key::~Key() = default;

bool Range::contains(double value) const {
  return (lower_open ? value > lower : value >= lower) && (upper_open ? value < upper : value <= upper);
}

std::string Range::rule() const {
  if (lower == -infinity && upper == infinity) return {};
  if (lower == 0 && upper == infinity) return lower_open ? "must be positive" : "must not be negative";
  if (upper == infinity || upper == std::numeric_limits<Index>::max())
    return fmt::format("must be {} {}", lower_open ? "more than" : "at least", lower);
  if (lower == -infinity) return fmt::format("must be {} {}", upper_open ? "less than" : "at most", upper);
  if (lower == upper) return fmt::format("must be {}", lower);
  return fmt::format("must lie in {}{}, {}{}", lower_open ? '(' : '[', lower, upper, upper_open ? ')' : ']');
}

const Group& Catalog::group(std::string_view name) const {
  return named(groups, name);
}
const ChoiceList& Catalog::choice_list(std::string_view name) const {
  return named(choices, name);
}

const Catalog& catalog() {
  static const Catalog result = make_catalog();
  return result;
}

const Row& Group::row(std::string_view row_name) const {
  return named(rows, row_name);
}

const Row& Group::row_of(const JsonValue& object) const {
  for (const Row& candidate : rows)
    if (candidate.tag.empty() || candidate.describes(object)) return candidate;
  throw InvariantError("Group::row_of: the object was not checked");
}

bool Row::describes(const JsonValue& object) const {
  const JsonValue* given = tag.empty() ? nullptr : object.find(tag);
  if (!given || !tag_is_name) return given != nullptr;
  const auto* text = given->get_if<std::string>();
  return text && *text == name;
}

}  // namespace apart
