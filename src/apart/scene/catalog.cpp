#include <apart/scene/catalog_parts.hpp>

namespace apart {

namespace {

using namespace catalog_parts;

Group scene() {
  using T = SceneDescription;
  return record<T>(
      "The whole file. SI units throughout; angles are degrees.",
      {{{"$schema", text(), "", Key::optional, "for editors that check while typing; not read"}, &T::schema},
       {{"version", integer(1, 1), "", Key::required, "of the scene format", "this program reads version 1"},
        &T::version},
       {{"name", text(), "", Key::optional, "of the scene; not given: the file's name"}, &T::name},
       {{"description", any_text(), "", "\"\"", "one line for people"}, &T::description},
       {{"time", object("time"), "", Key::required, "how long, in which steps"}, &T::time},
       {{"gravity", vector(), "m/s2", "[0, -9.81, 0]", "acceleration of everything that moves"}, &T::gravity},
       {{"bodies", list(object("body"), 1, most_bodies), "", Key::required,
         "what the scene is made of; at most 100 000, copies included"},
        &T::bodies},
       {{"attachments", list(object("attachment")), "", "[]", "springs between bodies"}, &T::attachments},
       {{"joints", list(object("joint")), "", "[]", "what holds bodies to each other or to the world"},
        &T::joints},
       {{"contact", object("contact"), "", "{}", "how bodies touch"}, &T::contact},
       {{"probes", list(object("probe")), "", "[]", "what is measured after every step"}, &T::probes},
       {{"solver", object("solver"), "", "{}", "how each step is solved"}, &T::solver},
       {{"output", object("output"), "", "{}", "what is written"}, &T::output}});
}

Group time_steps() {
  using T = TimeDescription;
  return record<T>(
      "Either `tend` or `steps` says how long.",
      {{{"dt", number(positive), "s", "0.01", "time step"}, &T::dt},
       {{"tend", number(positive), "s", Key::optional, "simulated time; the last step may pass it"},
        &T::tend},
       {{"steps", integer(1), "", Key::optional, "number of time steps"}, &T::steps},
       {{"max_motion", number(not_negative), "", "0.25",
         "how far two pieces that meet may move against each other in a whole step, in widths of the "
         "smaller one; where they move farther the step is divided; 0: none is"},
        &T::max_motion},
       {{"integrator", choice("integrator"), "", "\"implicit_euler\"", "time integration"}, &T::integrator},
       {{"beta", number({0, 0.5, true, false}), "", Key::optional, "of newmark; not given: 0.25"}, &T::beta},
       {{"gamma", number({0.5, 1}), "", Key::optional,
         "of newmark; not given: 0.5; larger values damp, and are of first order"},
        &T::gamma},
       {{"spectral_radius", number({0, 1}), "", Key::optional,
         "of generalized_alpha; not given: 0.5; share of a vibration too fast for the step that is "
         "left after it; 0 damps most, 1 nothing"},
        &T::spectral_radius},
       {{"conserve_spin", boolean(), "", "false",
         "true: rigid bodies keep their angular momentum in free flight; false: implicit_euler slows fast "
         "spins "
         "down, as published. Of implicit_euler only"},
        &T::conserve_spin}});
}

Group probes() {
  const Key name{"name", text(), "", Key::required, "heads its columns"};
  const Key type{"type", text(), "", Key::required, "what is measured"};
  const Key body{"body", text(), "", Key::required,
                 "name of the body; of copies the name without number means all together"};
  const Key bodies{"bodies", tuple(text(), 2), "", Key::required, "two names"};
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
      {of_points.operator()<PositionProbe>("mean place of points; columns x, y, z [m]"),
       of_points.operator()<VelocityProbe>("mean velocity of points; columns x, y, z [m/s]"),
       of_body.operator()<MomentumProbe>(
           "columns x, y, z [kg m/s], and about the origin angular_x, angular_y, angular_z [kg m2/s]"),
       of_body.operator()<EnergyProbe>("columns kinetic, elastic, gravity [J]"),
       of_points.operator()<ReactionProbe>(
           "force with which what holds or moves points acts on the body, in sum; columns x, y, z [N]; of "
           "an obstacle: what it takes to hold it against contact"),
       of_two.operator()<ContactProbe>(
           "force of the second body on the first; columns normal_x, normal_y, normal_z, friction_x, "
           "friction_y, friction_z, and pressing: how hard all contacts press, added up [N]"),
       of_two.operator()<GapProbe>("smallest distance of two bodies, less their thickness; column gap [m]"),
       of_body.operator()<StrainProbe>("columns largest, of |stretch - 1|, and volume_ratio, the smallest"),
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
         "gap that is never undercut, of bodies that have none of their own; contact begins at thickness + "
         "dhat"},
        &T::thickness},
       {{"barrier_stiffness", any_of({number(positive), choice("barrier_stiffness")}), "Pa", "\"adaptive\"",
         "stiffness of the contact force"},
        &T::barrier_stiffness},
       {{"friction_coefficient", friction_coefficient(), "", "0",
         "mu where neither body nor pair says otherwise"},
        &T::friction_coefficient},
       {{"epsv", any_of({length(positive), choice("epsv")}), "m/s", "\"auto\"",
         "speed below which friction is static; L means L per second"},
        &T::epsv},
       {{"friction_iterations", integer(0, 1000), "", "1",
         "updates of the friction forces in a step; 0: until they settle"},
        &T::friction_iterations},
       {{"allow_nested", boolean(), "", "false",
         "true: bodies may lie inside volumes and affine bodies, from the start or when they appear"},
        &T::allow_nested},
       {{"pairs", list(object("pair")), "", "[]", "exceptions for pairs of bodies; later ones win"},
        &T::pairs}});
}

Group frictions() {
  using T = FrictionDescription;
  return record<T>(
      "Coefficients for sticking and for sliding. Friction falls from the one to the other between epsv and "
      "ten "
      "times epsv. A number alone is both.",
      {{{"static", number(not_negative), "", Key::required, "of what sticks"}, &T::sticking},
       {{"kinetic", number(not_negative), "", Key::required, "of what slides; not more than static"},
        &T::sliding}});
}

Group pairs() {
  using T = PairDescription;
  return record<T>(
      "What is not given is as for all.",
      {{{"bodies", tuple(text(), 2), "", Key::required,
         "two names; the same twice: the body with itself and its copies; \"*\": every body"},
        &T::bodies},
       {{"enabled", boolean(), "", "true", "false: the two do not see each other and may overlap"},
        &T::enabled},
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
         "... and the largest unbalanced force on a node is a smaller share of the largest force on its "
         "body"},
        &T::force_tolerance},
       {{"termination", choice("termination"), "", "\"balanced\"", "when a step is solved"}, &T::termination},
       {{"max_iterations", integer(1), "", "1000", "Newton iterations before a step counts as failed"},
        &T::max_iterations},
       {{"slow_iterations", integer(1), "", "100",
         "Newton iterations in a step after which the run reports what slows it down"},
        &T::slow_iterations},
       {{"linear_solver", choice("linear_solver"), "", "\"cholmod\"", "how linear systems are solved"},
        &T::linear_solver},
       {{"ordering", choice("ordering"), "", "\"auto\"", "elimination order of a direct solver"},
        &T::ordering},
       {{"broad_phase", choice("broad_phase"), "", "\"bvh\"", "how near pairs are found"}, &T::broad_phase},
       {{"candidate_reuse", boolean(), "", "true",
         "near pairs are found with a margin and kept while motion stays within it; changes no result"},
        &T::candidate_reuse},
       {{"ccd", choice("ccd"), "", "\"additive\"", "how the time of impact is found"}, &T::ccd},
       {{"ccd_culling", choice("ccd_culling"), "", "\"near_first\"",
         "which pairs are looked at to bound a step"},
        &T::ccd_culling},
       {{"sleeping", number({0, 1}), "", "0",
         "bodies that are slower than this share of tolerance sleep: they cost little until something "
         "happens to them; 0: none does"},
        &T::sleeping}});
}

Group outputs() {
  using T = OutputDescription;
  return record<T>(
      "",
      {{{"every", integer(1), "steps", "1",
         "number of steps from frame to frame; the first and the last state are always written"},
        &T::every},
       {{"formats", list(choice("format")), "", "[\"vtu\"]", "VTU is always written, others beside it"},
        &T::formats},
       {{"checkpoint_seconds", number(not_negative), "s", "10",
         "a checkpoint at the end of a step when so much time has passed since the last; the last two are "
         "kept"},
        &T::checkpoint_seconds},
       {{"checkpoint_steps", integer(1), "steps", Key::optional,
         "number of steps from checkpoint to checkpoint, in addition"},
        &T::checkpoint_steps}});
}

Catalog make_catalog() {
  return {{scene(),        time_steps(),      bodies(),        meshes(),        tetrahedralizations(),
           transforms(),   axis_angles(),     arrays(),        materials(),     fields(),
           regions(),      shell_materials(), strain_limits(), rod_materials(), fixed_parts(),
           loads(),        attachments(),     joints(),        joint_angles(),  joint_positions(),
           angle_motors(), position_motors(), probes(),        dampings(),      sequences(),
           selections(),   boxes(),           balls(),         planes(),        motions(),
           keyframes(),    turnings(),        contacts(),      frictions(),     pairs(),
           solvers(),      outputs()},
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
