#include <apart/bodies/body_rules.hpp>
#include <apart/scene/attachments.hpp>
#include <apart/scene/body_builder.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/joints.hpp>
#include <apart/scene/probes.hpp>
#include <apart/scene/remeshing.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/joint_conflict.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace apart {

namespace {

/// Which bodies a name in the scene stands for.
class BodyIndex {
 public:
  explicit BodyIndex(const std::vector<BuiltBody>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      all_.push_back(int(i));
      const std::string& name = entries[i].body.name;
      by_name_[entries[i].base_name].push_back(int(i));
      if (name != entries[i].base_name) by_name_[name].push_back(int(i));
      // Copies of an array that were written one by one.
      const std::size_t dot = name.rfind('.');
      if (dot != std::string::npos && name == entries[i].base_name && is_copy(name, name.substr(0, dot)))
        copies_[name.substr(0, dot)].push_back(int(i));
    }
  }
  const std::vector<int>& operator()(const std::string& name) const {
    if (name == "*") return all_;
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    const auto copies = copies_.find(name);
    ensure(copies != copies_.end(), "BodyIndex: unknown names have been reported");
    return copies->second;
  }

 private:
  std::vector<int> all_;
  std::unordered_map<std::string, std::vector<int>> by_name_, copies_;
};

/// None for "auto".
std::optional<double> metres(const AutomaticLength& length, double scene_size) {
  const auto* given = std::get_if<Length>(&length);
  return given ? std::optional(given->metres(scene_size)) : std::nullopt;
}

// ---- Contact --------------------------------------------------------------------------------------------

/// The contact settings of a body.
struct ContactValues {
  ContactDefaults fitting;
  double thickness = 0;  ///< [m]
  FrictionCoefficients friction;
  bool pushed = false;  ///< can be
  bool whole = false;   ///< has no contact with itself

  /// Bodies for which these are equal have the same pair settings.
  std::array<double, 7> key() const {
    return {thickness,     friction.sticking,         friction.sliding,         double(pushed),
            double(whole), pushed ? fitting.dhat : 0, pushed ? fitting.epsv : 0};
  }
};

std::vector<ContactValues> contact_values(const ContactDescription& contact,
                                          const std::vector<BuiltBody>& entries, double size) {
  const FrictionCoefficients general = make_friction(contact.friction_coefficient);
  const std::optional<double> dhat = metres(contact.dhat, size), epsv = metres(contact.epsv, size),
                              common_thickness = metres(contact.thickness, size);
  std::vector<ContactValues> values;
  for (const BuiltBody& e : entries) {
    ContactValues v{e.fitting, e.fitting.thickness, e.friction.value_or(general), e.body.is_dynamic(),
                    moves_as_whole(e.body)};
    if (dhat) v.fitting.dhat = *dhat;
    if (epsv) v.fitting.epsv = *epsv;
    if (common_thickness && e.body.radius == 0) v.thickness = *common_thickness;
    if (e.thickness) v.thickness = e.thickness->metres(size);
    values.push_back(v);
  }
  return values;
}

/// Settings of two bodies where no rule says otherwise.
PairSettings general_settings(const ContactValues& a, const ContactValues& b) {
  // Of two bodies, those that can be pushed decide; two obstacles have no contact.
  const auto fitted = [&](double ContactDefaults::*value) {
    const double of_a = a.fitting.*value, of_b = b.fitting.*value;
    if (!a.pushed && !b.pushed) return std::max({of_a, of_b, 1e-3});
    return !a.pushed ? of_b : !b.pushed ? of_a : std::min(of_a, of_b);
  };
  PairSettings settings;
  settings.dhat = fitted(&ContactDefaults::dhat);
  settings.epsv = fitted(&ContactDefaults::epsv);
  settings.friction = 0.5 * (a.friction.sticking + b.friction.sticking);
  settings.kinetic_friction = 0.5 * (a.friction.sliding + b.friction.sliding);
  settings.thickness = 0.5 * (a.thickness + b.thickness);  // C-IPC section 5
  return settings;
}

std::vector<PairRule> pair_rules(const ContactDescription& contact, const BodyIndex& named, double size) {
  std::vector<PairRule> rules;
  for (const PairDescription& pair : contact.pairs) {
    PairRule rule{named(pair.bodies[0]), named(pair.bodies[1]), pair.enabled, {}, {}, {}};
    if (pair.friction_coefficient) rule.friction = make_friction(*pair.friction_coefficient);
    if (pair.dhat) rule.dhat = pair.dhat->metres(size);
    if (pair.thickness) rule.thickness = pair.thickness->metres(size);
    rules.push_back(std::move(rule));
  }
  return rules;
}

/// `parted`: bodies that their joint lets overlap.
PairTable build_pairs(const ContactDescription& contact, const std::vector<BuiltBody>& entries,
                      const BodyIndex& named, double size, const std::vector<std::array<int, 2>>& parted) {
  const std::vector<ContactValues> values = contact_values(contact, entries, size);
  std::vector<int> start;
  std::map<std::array<double, 7>, int> classes;
  for (const ContactValues& v : values)
    start.push_back(classes.try_emplace(v.key(), int(classes.size())).first->second);
  std::vector<PairRule> rules = pair_rules(contact, named, size);
  for (const auto& [a, b] : parted) rules.push_back({{a}, {b}, false, {}, {}, {}});
  // See can_touch: obstacles do not collide with each other, nor bodies that move as a whole with themselves.
  PairRule obstacles{{}, {}, false, {}, {}, {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].pushed) obstacles.first.push_back(int(i));
  obstacles.second = obstacles.first;
  if (!obstacles.first.empty()) rules.push_back(std::move(obstacles));
  PairTable table = make_pair_table(std::move(start), rules, [&](int a, int b) {
    return general_settings(values[std::size_t(a)], values[std::size_t(b)]);
  });
  for (int i = 0; i < int(values.size()); ++i)
    if (values[std::size_t(i)].whole) {
      PairSettings settings = table(i, i);
      settings.enabled = false;
      table.set(i, i, settings);
    }
  return table;
}

// ---- Options --------------------------------------------------------------------------------------------

IntegratorOptions make_integrator(const TimeDescription& time) {
  IntegratorOptions options;
  options.scheme = time.integrator;
  const auto take = [&](const char* key, const std::optional<double>& given, Integrator of, double& option) {
    if (given && time.integrator != of)
      time.place[key].fail("got {}, but the integrator is {}; remove it, or set \"integrator\": \"{}\"",
                           *given, described::choice_name(int(time.integrator), "integrator"),
                           described::choice_name(int(of), "integrator"));
    if (given) option = *given;
  };
  take("beta", time.beta, Integrator::newmark, options.beta);
  take("gamma", time.gamma, Integrator::newmark, options.gamma);
  take("spectral_radius", time.spectral_radius, Integrator::generalized_alpha, options.spectral_radius);
  options.conserves_spin = time.conserve_spin;
  if (options.conserves_spin && time.integrator != Integrator::implicit_euler)
    time.place["conserve_spin"].fail("is for implicit_euler, but the integrator is {}; remove one of the two",
                                     described::choice_name(int(time.integrator), "integrator"));
  return options;
}

double solver_tolerance(const SolverDescription& solver, const std::vector<BuiltBody>& entries, double size) {
  if (const auto given = metres(solver.tolerance, size)) return *given;
  double smallest = std::numeric_limits<double>::infinity();
  for (const BuiltBody& e : entries)
    if (e.body.is_dynamic()) smallest = std::min(smallest, e.fitting.tolerance);
  return smallest;
}

SimulationOptions make_options(const SceneDescription& scene, double tolerance) {
  SimulationOptions options;
  options.dt = scene.time.dt;
  options.max_motion = scene.time.max_motion;
  options.integrator = make_integrator(scene.time);
  options.gravity = scene.gravity;
  const ContactDescription& contact = scene.contact;
  options.contact.formulation = contact.formulation;
  if (contact.formulation == ContactFormulation::convergent &&
      contact.barrier_stiffness == BarrierStiffness(StiffnessRule::published))
    contact.place["barrier_stiffness"].fail(
        "got \"published\", which is made for contacts that all count alike; with contact.formulation "
        "\"convergent\" use \"adaptive\" or a pressure, such as a tenth of Young's modulus");
  if (const double* stiffness = std::get_if<double>(&contact.barrier_stiffness))
    options.contact.barrier_stiffness = *stiffness;
  else
    options.contact.stiffness_rule = std::get<StiffnessRule>(contact.barrier_stiffness);
  options.contact.friction_iterations = contact.friction_iterations;
  options.contact.allow_nested = contact.allow_nested;
  const SolverDescription& solver = scene.solver;
  options.solver.tolerance = tolerance;
  options.solver.force_tolerance = solver.force_tolerance;
  options.solver.termination = solver.termination;
  options.solver.max_iterations = solver.max_iterations;
  options.solver.slow_iterations = solver.slow_iterations;
  options.solver.linear_solver = solver.linear_solver;
  options.solver.ordering = solver.ordering;
  options.solver.broad_phase = solver.broad_phase;
  options.solver.ccd = solver.ccd;
  options.solver.ccd_culling = solver.ccd_culling;
  options.solver.candidate_reuse = solver.candidate_reuse;
  options.solver.sleep_speed = solver.sleeping * tolerance;
  return options;
}

Index count_steps(const TimeDescription& time) {
  if (time.steps) return *time.steps;
  // Rounding must not add a step to 2 s in steps of 0.01 s.
  const double steps = std::ceil(*time.tend / time.dt * (1 - 1e-12));
  if (!(steps <= std::numeric_limits<Index>::max()))
    time.place["dt"].fail("got {}, which makes {:.3g} steps until {}; use larger steps", time.dt, steps,
                          *time.tend);
  return std::max(Index(steps), 1);
}

// ---- The scene ------------------------------------------------------------------------------------------

/// Builds a checked description, part by part.
class SceneBuilder {
 public:
  explicit SceneBuilder(const SceneDescription& description) : description_(description) {}

  Scene build() {
    scene_.name = description_.name;
    scene_.steps = count_steps(description_.time);
    clock_ = {description_.time.dt, scene_.steps};
    set_output();
    check_body_count();
    add_unknown_bodies(description_, problems_);
    add_bodies();
    size_ = checked_size();
    for (BuiltBody& e : entries_) e.fitting = contact_defaults(e.body, size_);
    const BodyIndex named(entries_);
    PairTable pairs = build_pairs(description_.contact, entries_, named, size_, parted_pairs(named));
    SimulationOptions options =
        make_options(description_, solver_tolerance(description_.solver, entries_, size_));
    std::vector<Body> bodies;  // the names in entries_ stay
    for (BuiltBody& entry : entries_) bodies.push_back(std::move(entry.body));
    std::vector<Attachment> attachments = attach(bodies, named);
    std::vector<Joint> joints = join(bodies, named);
    add_probes(bodies, named);
    std::vector<RemeshOptions> remeshing = remeshings(bodies, pairs);
    const auto model = std::make_shared<Model>(std::move(bodies), std::move(pairs), std::move(options),
                                               std::move(attachments), std::move(joints));
    if (!remeshing.empty()) model->remesher = make_remesher(std::move(remeshing));
    scene_.model = model;
    if (const auto joint = contradicting_joint(*scene_.model))
      base_of(description_.joints[std::size_t(*joint)])
          .place.fail(
              "has a motor that cannot follow its target: joints hold the body, or another motor drives it "
              "differently; give the motor a largest force, or remove one of the joints");
    ensure(scene_.model->size == size_, "build_scene: L of the scene format is Model::size");
    return std::move(scene_);
  }

 private:
  std::vector<RemeshOptions> remeshings(std::vector<Body>& bodies, const PairTable& pairs) {
    std::vector<RemeshOptions> result;
    for (std::size_t b = 0; b < entries_.size(); ++b)
      if (const auto& d = entries_[b].remesh) {
        result.push_back(make_remeshing(*d, bodies[b], int(b), pairs, size_));
        if (auto note = unusual_gain(*d, bodies[b], description_.gravity.norm()))
          scene_.notes.push_back(std::move(*note));
      }
    return result;
  }

  void set_output() {
    const OutputDescription& output = description_.output;
    scene_.frame_every = output.every;
    scene_.checkpoint_seconds = output.checkpoint_seconds;
    scene_.checkpoint_steps = output.checkpoint_steps;
    for (const std::string& format : output.formats)
      if (format != "vtu") scene_.extra_formats.push_back(format);
  }

  void check_body_count() const {
    double count = 0;
    for (const BodyDescription& body : description_.bodies) {
      const ArrayDescription* array = array_of(body);
      const double copies = array ? array->copies() : 1;
      if (copies > most_bodies)
        array->place["counts"].fail("asks for {} copies, at most {} are made; use fewer", copies,
                                    most_bodies);
      count += copies;
    }
    if (count > most_bodies)
      bodies_place().fail("has {} bodies, copies included, at most {} are allowed; merge some of them", count,
                          most_bodies);
  }

  /// The spin of a rigid body is lost where a step turns it by more than half a turn: seen from its ends, the
  /// step turned the body the other way round.
  void check_spin(const BodyDescription& body) const {
    const auto* rigid = std::get_if<RigidDescription>(&body);
    const TimeDescription& time = description_.time;
    if (!rigid || rigid->motion || time.conserve_spin || time.integrator == Integrator::quasi_static) return;
    constexpr double most = 180;  // [degrees]
    if (const double turn = rigid->angular_velocity.norm() * time.dt; turn > most)
      rigid->place["angular_velocity"].fail(
          "turns the body by {:.4g} degrees in a step of {} s, more than half a turn, and its spin would be "
          "lost at once; use a time.dt of at most {:.2g} s, or \"conserve_spin\": true in \"time\"",
          turn, time.dt, time.dt * most / turn);
  }

  void add_bodies() {
    double cells = 0;
    for (const BodyDescription& body : description_.bodies) {
      problems_.collect([&] {
        check_spin(body);
        for (BuiltBody& built : build_bodies(body, clock_, scene_.notes)) {
          cells += cell_count(built.body.mesh);
          entries_.push_back(std::move(built));
        }
      });
      // Now, not when the memory is full.
      if (cells > most_cells)
        bodies_place().fail(
            "has {:.2g} cells or more in all meshes, at most {:.2g} are read; use coarser meshes", cells,
            most_cells);
    }
    problems_.throw_if_any();
    if (std::ranges::none_of(entries_, [](const BuiltBody& e) { return e.body.is_dynamic(); }))
      bodies_place().fail(
          "has nothing that can move; add a body of type volume, shell, affine, rigid, rod or particles");
  }

  /// L of the scene format, Model::size [m].
  double checked_size() const {
    Aabb box;
    for (const BuiltBody& e : entries_) box.include(extent_of(e.body));
    const double size = box.diagonal();
    if (!(size >= 1e-9 && size <= 1e9))
      bodies_place().fail("are {:.3g} m across, must be between 1e-9 and 1e9; lengths are in metres", size);
    return size;
  }

  std::vector<Attachment> attach(std::vector<Body>& bodies, const BodyIndex& named) {
    std::vector<Attachment> result;
    for (const AttachmentDescription& attachment : description_.attachments)
      problems_.collect([&] {
        const auto& names = std::visit(
            [](const AttachmentBase& d) -> const auto& { return d.bodies; }, attachment);
        // Stitches of one body sew each copy to itself.
        const bool of_one = std::holds_alternative<StitchesDescription>(attachment) && names[0] == names[1];
        for (const int a : named(names[0]))
          for (const int b : named(names[1])) {
            if (of_one && a != b) continue;
            const BuiltBody &first = entries_[std::size_t(a)], &second = entries_[std::size_t(b)];
            const AttachedPair pair{
                bodies, a, b, first.placed(bodies[std::size_t(a)]), first.renumbered || second.renumbered,
                size_};
            result.push_back(make_attachment(attachment, pair, clock_));
          }
      });
    problems_.throw_if_any();
    return result;
  }

  std::vector<std::array<int, 2>> parted_pairs(const BodyIndex& named) {
    std::vector<std::array<int, 2>> result;
    for (const JointDescription& joint : description_.joints)
      problems_.collect([&] {
        const JointBase& d = base_of(joint);
        if (const std::vector<int> of = jointed_bodies(d, named); of.size() == 2 && !d.contact)
          result.push_back({of[0], of[1]});
      });
    problems_.throw_if_any();
    return result;
  }

  /// Joints are constraints: what a rule does not damp grows in their forces from step to step.
  void check_joint_integrator() const {
    constexpr double largest_radius = 0.8;
    const TimeDescription& time = description_.time;
    if (time.integrator == Integrator::newmark)
      time.place["integrator"].fail(
          "is newmark, which lets the forces of joints grow from step to step; use generalized_alpha, bdf2 "
          "or "
          "implicit_euler");
    if (time.spectral_radius.value_or(0) > largest_radius)
      time.place["spectral_radius"].fail(
          "got {}, must be at most {} in a scene with joints, whose forces would grow from step to step",
          *time.spectral_radius, largest_radius);
  }

  std::vector<Joint> join(std::vector<Body>& bodies, const BodyIndex& named) {
    if (!description_.joints.empty()) check_joint_integrator();
    std::vector<Joint> result;
    std::set<std::string> names;
    for (const JointDescription& joint : description_.joints)
      problems_.collect([&] {
        const JointBase& d = base_of(joint);
        if (!names.insert(d.name).second)
          d.place["name"].fail("got \"{}\", the name of another joint; names must differ", d.name);
        result.push_back(make_joint(joint, {bodies, named, clock_, size_}));
      });
    problems_.throw_if_any();
    return result;
  }

  int joint_named(const JointProbe& probe) const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < description_.joints.size(); ++i) {
      names.push_back(base_of(description_.joints[i]).name);
      if (names.back() == probe.joint) return int(i);
    }
    const std::string near = nearest_name(probe.joint, names);
    probe.place["joint"].fail(
        "got \"{}\", which is no joint; {}", probe.joint,
        near.empty() ? "use the name of one" : fmt::format("did you mean \"{}\"?", near));
  }

  /// Of "*" those that the other name does not stand for.
  static ProbedBodies two_sides(const PairProbe& probe, const BodyIndex& named) {
    ProbedBodies of{named(probe.bodies[0]), named(probe.bodies[1]), {}};
    const auto without = [](std::vector<int>& all, const std::vector<int>& others) {
      std::erase_if(all, [&](int b) { return std::ranges::find(others, b) != others.end(); });
    };
    if (probe.bodies[1] == "*")
      without(of.others, of.bodies);
    else if (probe.bodies[0] == "*")
      without(of.bodies, of.others);
    if (of.bodies.empty() || of.others.empty())
      probe.place["bodies"].fail("has nothing on one side; name a body, and \"*\" or another one");
    return of;
  }

  void add_probes(std::vector<Body>& bodies, const BodyIndex& named) {
    std::set<std::string> names;
    for (const ProbeDescription& probe : description_.probes)
      problems_.collect([&] {
        ProbedBodies of = std::visit(
            [&]<class T>(const T& d) {
              if constexpr (std::derived_from<T, PairProbe>)
                return two_sides(d, named);
              else if constexpr (std::same_as<T, JointProbe>)
                return ProbedBodies{{}, {}, {}, joint_named(d)};
              else
                return ProbedBodies{named(d.body), {}, {}};
            },
            probe);
        for (const int b : of.bodies)
          of.placed.push_back(entries_[std::size_t(b)].placed(bodies[std::size_t(b)]));
        scene_.probes.push_back(make_probe(probe, bodies, of));
        const ProbeBase& base = std::visit([](const ProbeBase& d) -> const ProbeBase& { return d; }, probe);
        if (!names.insert(base.name).second)
          base.place["name"].fail("got \"{}\", which another probe has already; give each its own",
                                  base.name);
      });
    problems_.throw_if_any();
  }

  Place bodies_place() const { return description_.place["bodies"]; }

  const SceneDescription& description_;
  Scene scene_;
  Clock clock_;
  Problems problems_;
  std::vector<BuiltBody> entries_;
  double size_ = 0;
};

}  // namespace

Scene build_scene(const SceneFile& file) {
  const SceneDescription description = file.description();
  return SceneBuilder(description).build();
}

Scene build_scene(const SceneDescription& description) {
  return build_scene(understand_scene(to_json(description), "scene", "."));
}

}  // namespace apart
