// Fixtures of Rigid IPC as scenes.
#include <apart/bodies/body_mesh.hpp>
#include <apart/bodies/mass_distribution.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/importers/rigid_ipc/import.hpp>
#include <apart/importers/rigid_ipc/motions.hpp>
#include <apart/importers/rigid_ipc/shapes.hpp>
#include <apart/importers/tools.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace apart::rigid_ipc {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_fixture_bodies = 20000, most_excluded_pairs = 100000;

Length metres(double value) {
  return {tidy(value), false};
}

FormulaVector constant(const Vector3& v) {
  return {tidy(v[0]), tidy(v[1]), tidy(v[2])};
}

class FixtureImporter {
 public:
  FixtureImporter(const fs::path& file, const ImportOptions& options)
      : fixture_(read_fixture(file)),
        shapes_(file, fixture_.plane),
        directory_(options.directory.empty() ? fs::path()
                                             : fs::absolute(options.directory).lexically_normal()),
        physical_(options.physical),
        file_(file),
        source_(std::make_shared<const std::string>(file.string())) {}

  ImportedScene import() {
    if (fixture_.bodies.size() > most_fixture_bodies)
      fixture_.scene.fail("has {} bodies, at most {} are read", fixture_.bodies.size(), most_fixture_bodies);
    for (const FixtureBody& body : fixture_.bodies) ++namesakes_[stem_of(body)];
    Problems problems;
    for (const FixtureBody& body : fixture_.bodies) problems.collect([&] { add(body); });
    problems.throw_if_any();
    add_pairs();
    set_time();
    set_contact();
    set_solver();
    scene_.name = file_.stem().string();
    scene_.description = fmt::format("converted from {}", file_.filename().string());
    scene_.gravity = fixture_.gravity;
    scene_.output.every = Index(std::max(1.0, std::round(0.01 / fixture_.dt)));
    scene_.place = place_of(fixture_.scene);
    return {std::move(scene_), std::move(fixture_.notes)};
  }

 private:
  struct Member {
    std::string name;
    bool moves;  ///< it is no obstacle
  };
  static std::string stem_of(const FixtureBody& body) {
    std::string result = body.mesh.empty() ? "body" : fs::path(body.mesh).stem().string();
    if (result.empty()) result = "body";
    for (char& c : result)
      if (c == '*' || c == '[' || c == ']') c = '_';
    return result;
  }
  std::string fresh_name(const FixtureBody& body, bool alone) {
    const std::string stem = stem_of(body);
    std::string result = stem;
    if (!alone || namesakes_[stem] > 1 || names_.contains(result))
      while (names_.contains(result = fmt::format("{}_{}", stem, ++counted_[stem]))) {
      }
    names_.insert(result);
    return result;
  }
  Place place_of(const LocatedJson& at) const { return Place(source_, std::max(1, at.value().line)); }
  void note(const LocatedJson& at, std::string_view what) { fixture_.notes.push_back(at.message(what)); }
  void note_once(const std::string& key, const LocatedJson& at, std::string_view what) {
    if (said_.insert(key).second) note(at, what);
  }

  // ---- Bodies
  TransformDescription transform_of(const FixtureBody& body, const Vector3& extent) const {
    Vector3 scale = body.scale;
    if (body.dimensions)
      for (int k = 0; k < 3; ++k) scale[k] = (*body.dimensions)[k] / (extent[k] == 0 ? 1 : extent[k]);
    for (int k = 0; k < 3; ++k) {
      if (scale[k] == 0 && extent[k] == 0) scale[k] = 1;
      if (scale[k] == 0)
        body.at[body.dimensions ? "dimensions" : "scale"].fail("makes the body flat along {}; must not be 0",
                                                               "xyz"[k]);
    }
    scale = tidy(scale.cwiseAbs());
    TransformDescription result;
    result.rotate = body.rotation;
    result.translate = body.position;
    if (scale[0] == scale[1] && scale[0] == scale[2])
      result.scale = scale[0];
    else
      result.scale = scale;
    return result;
  }

  void add(const FixtureBody& body) {
    const Piece* whole = &shapes_.whole(body);
    const Aabb box = bounding_box(whole->mesh.points);
    const Vector3 signs = body.dimensions ? *body.dimensions : body.scale;
    if (whole->left_out > 0)
      note_once(
          "repaired " + body.mesh, body.at["mesh"],
          fmt::format(
              "{} triangles of {} without area, or duplicates, are left out; the scene holds the mesh itself",
              whole->left_out, body.mesh));
    Piece turned;
    if ((signs.array() < 0).any()) {
      note_once("mirrored", body.at,
                "is mirrored by a negative scale; the scene holds the mirrored mesh itself");
      turned = mirrored(*whole, signs);
      whole = &turned;
    }
    const TransformDescription transform = transform_of(body, box.upper - box.lower);
    if (!body.split) return add(body, *whole, transform, true);
    const std::vector<Piece> pieces = split(*whole);
    for (const Piece& piece : pieces) add(body, piece, transform, pieces.size() == 1);
  }

  void add(const FixtureBody& body, const Piece& piece, const TransformDescription& transform, bool alone) {
    const Mesh placed = transformed(piece.mesh, transform);
    box_.include(bounding_box(placed.points));
    const std::string name = fresh_name(body, alone);
    if (body.group >= 0) groups_[body.group].push_back({name, body.type == Type::dynamic});
    const auto shaped = [&](auto description) {
      description.place = place_of(body.at);
      description.name = name;
      description.mesh = piece.description(directory_);
      description.transform = transform;
      return description;
    };
    const auto open_solid = [&](double density) {
      return fixture_.plane ? std::nullopt : mass_of_open_solid(placed, body.position, density);
    };
    const auto mass = [&](double density) {
      if (const auto solid = open_solid(density > 0 ? density : 1)) return *solid;
      const std::string whose = fmt::format("mesh of '{}'", name);
      return body.at.locate([&] {
        return mass_distribution(rigid_mesh(placed, {whose, whose}), density > 0 ? density : 1);
      });
    };
    if (body.type == Type::dynamic) {
      RigidDescription rigid = shaped(RigidDescription{});
      set_dynamics(rigid, body, mass);
      if (const auto solid = open_solid(body.density)) set_mass(rigid, body, *solid);
      scene_.bodies.push_back(std::move(rigid));
      return;
    }
    without_effect(body, "force", body.force);
    without_effect(body, "torque", body.torque);
    if (body.type == Type::still) {
      without_effect(body, "linear_velocity", body.linear_velocity);
      without_effect(body, "angular_velocity", body.angular_velocity);
    }
    scripted_.push_back({name, false});
    if (body.type == Type::kinematic)
      if (const Given given = free_part(body);
          !given.velocity.isZero(0) || !given.spin.isZero(0) || !body.poses.empty())
        if (auto motion = make_motion({body, given.velocity, given.spin, mass(body.density), fixture_.dt,
                                       fixture_.steps, fixture_.plane},
                                      [&](std::string_view what) { note(body.at, what); })) {
          // Not an obstacle: where the way is blocked it must stay behind as a whole, as there.
          RigidDescription rigid = shaped(RigidDescription{});
          if (body.density > 0) set_density(rigid, body.density);
          rigid.motion = std::move(motion);
          scripted_.back().moves = true;
          scene_.bodies.push_back(std::move(rigid));
          return;
        }
    scene_.bodies.push_back(shaped(ObstacleDescription{}));
  }

  static void set_density(RigidDescription& rigid, double density) {
    OrthogonalityDescription material;
    material.rho = density;
    rigid.material = material;
  }

  /// Says so of a value that is not zero.
  void without_effect(const FixtureBody& body, std::string_view key, const Vector3& value) {
    if (value.isZero(0)) return;
    note_once(fmt::format("{} of a scripted body", key), body.at[key],
              "has no effect here, nor in the reference: the body is not moved by forces");
  }

  /// Velocities and forces along what is free.
  struct Given {
    Vector3 velocity, spin, force, torque;
  };
  Given free_part(const FixtureBody& body) {
    Given given{body.linear_velocity, body.angular_velocity, body.force, body.torque};
    const auto clear = [&](Vector3& v, std::size_t first, std::string_view key) {
      for (std::size_t k = 0; k < 3; ++k) {
        if (!body.fixed[first + k] || v[Index(k)] == 0) continue;
        v[Index(k)] = 0;
        note_once(fmt::format("fixed {}", key), body.at[key],
                  "along a fixed direction has no effect, as in the reference");
      }
    };
    clear(given.velocity, 0, "linear_velocity");
    clear(given.spin, 3, "angular_velocity");
    clear(given.force, 0, "force");
    clear(given.torque, 3, "torque");
    return given;
  }

  template <class Mass>
  void set_dynamics(RigidDescription& rigid, const FixtureBody& body, const Mass& mass) {
    set_density(rigid, body.density);
    for (std::size_t k = 0; k < 3; ++k) {
      if (body.fixed[k]) rigid.fixed_translation += "xyz"[k];
      if (body.fixed[3 + k]) rigid.fixed_rotation += "xyz"[k];
    }
    const Given given = free_part(body);
    rigid.velocity = given.velocity;
    rigid.angular_velocity = given.spin;
    if (!given.force.isZero(0)) {
      BodyForceDescription load;
      load.acceleration = constant(given.force / mass(body.density).mass);
      rigid.loads.push_back(load);
    }
    if (!given.torque.isZero(0)) {
      TorqueDescription load;
      const double factor = physical_ ? 1 : std::numbers::pi / (fixture_.plane ? 180 : 90);
      load.torque = constant(factor * given.torque);
      rigid.loads.push_back(load);
      if (!physical_)
        note_once(
            "torque", body.at["torque"],
            fixture_.plane
                ? "is taken as the reference does, which reads it in degrees: pi/180 of the value, in N "
                  "m; 'apart convert --physical' takes the value"
                : "is taken as the reference does, which reads it in degrees and doubles it: pi/90 of "
                  "the value, in N m; 'apart convert --physical' takes the value");
    }
    if (rigid.fixed_rotation.size() == 2 && !fixture_.plane && !physical_) set_hinge(rigid, body, mass);
    if (rigid.fixed_rotation.size() == 1)
      note_once("one rotation", body.at["is_dof_fixed"],
                "fixes one rotation: here it means the world axis, the reference has not tested it");
  }

  void set_mass(RigidDescription& rigid, const FixtureBody& body, const MassDistribution& mass) {
    rigid.mass = tidy(mass.mass);
    rigid.centre = tidy(mass.centre);
    const Matrix3 i = mass.inertia();
    if (!rigid.inertia)
      rigid.inertia = {tidy(i(0, 0)), tidy(i(1, 1)), tidy(i(2, 2)),
                       tidy(i(0, 1)), tidy(i(0, 2)), tidy(i(1, 2))};
    note_once("open " + body.mesh, body.at,
              fmt::format(
                  "is an open surface, which the reference takes for a solid; '{}' gets its mass, {:.4g} kg: "
                  "remove \"mass\", \"centre\" and \"inertia\" for a sheet",
                  rigid.name, mass.mass));
  }

  template <class Mass>
  void set_hinge(RigidDescription& rigid, const FixtureBody& body, const Mass& mass) {
    const int axis = !body.fixed[3] ? 0 : !body.fixed[4] ? 1 : 2;
    const Matrix3 inertia = mass(1.0).inertia();
    const double there = tidy(inertia.trace() - inertia(axis, axis));
    if (!(there > 0)) return;
    rigid.inertia = std::vector<double>(3, there);
    note(
        body.at["is_dof_fixed"],
        fmt::format(
            "makes a hinge, of which the reference takes the inertia to be {:.4g} kg m2, without density; "
            "remove \"inertia\" of '{}' from the scene, or use 'apart convert --physical', for the true one, "
            "{:.4g} kg m2",
            there, rigid.name, inertia(axis, axis) * body.density));
  }

  /// Of bodies that never touch: those of a group, and those that only scripts move.
  void add_pairs() {
    for (const auto& [id, members] : groups_) exclude(members);
    exclude(scripted_);
  }
  void exclude(const std::vector<Member>& members) {
    for (std::size_t i = 0; i < members.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        if (!members[i].moves && !members[j].moves) continue;  // obstacles
        if (scene_.contact.pairs.size() >= most_excluded_pairs)
          fixture_.scene.fail(
              "groups and kinematic bodies exclude more than {} pairs of bodies; use smaller groups",
              most_excluded_pairs);
        PairDescription pair;
        pair.bodies = {members[j].name, members[i].name};
        pair.enabled = false;
        scene_.contact.pairs.push_back(pair);
      }
  }

  // ---- Settings
  void set_time() {
    scene_.time.dt = fixture_.dt;
    scene_.time.steps = fixture_.steps;
    scene_.time.max_motion = 0;  // a step is one solve there
    if (fixture_.newmark) scene_.time.integrator = Integrator::newmark;
  }

  void set_contact() {
    ContactDescription& contact = scene_.contact;
    contact.dhat = metres(fixture_.dhat);
    contact.thickness = metres(fixture_.separation);
    contact.barrier_stiffness = StiffnessRule::published;
    contact.friction_coefficient = fixture_.friction_iterations == 0 ? 0 : fixture_.friction;
    contact.epsv = metres(fixture_.epsv);
    contact.friction_iterations =
        fixture_.friction_iterations < 0 ? 0 : std::max<Index>(1, fixture_.friction_iterations);
    if (fixture_.friction_iterations == 0 && fixture_.friction > 0)
      note(fixture_.scene["friction_constraints"], "iterations 0 switch friction off, as in the reference");
  }

  void set_solver() {
    const double size = box_.diagonal();
    if (!(size > 0 && size < 1e100))
      fixture_.scene.fail("the bodies are {:.3g} m across; check scales and positions", size);
    scene_.solver.tolerance = metres(fixture_.tolerance * (fixture_.absolute_tolerance ? 1 : size));
    const double tolerance = std::get<Length>(scene_.solver.tolerance).value;
    scene_.solver.termination = Termination::published;
    const auto balance = [&](const std::string& reason) {
      scene_.solver.termination = Termination::balanced;
      note(fixture_.scene,
           reason +
               ", so steps end when forces balance as well; \"termination\": \"published\" ends them as "
               "the reference does");
    };
    // Otherwise what should slide would stand: its first Newton steps are below the tolerance already.
    if (fixture_.friction > 0 && fixture_.friction_iterations != 0 && tolerance > fixture_.epsv)
      balance(fmt::format("the tolerance of {:.3g} m/s is above the {:g} m/s below which friction sticks",
                          tolerance, fixture_.epsv));
    // Otherwise what they push is left at rest against them, and is in the way in the next step.
    else if (std::ranges::any_of(scripted_, &Member::moves))
      balance("kinematic bodies push others");
    scene_.solver.max_iterations = fixture_.max_iterations;
  }

  Fixture fixture_;
  Shapes shapes_;
  fs::path directory_;
  bool physical_;  ///< see ImportOptions
  fs::path file_;
  std::shared_ptr<const std::string> source_;  ///< of places
  SceneDescription scene_;
  Aabb box_;  ///< of all vertices at the start
  std::map<std::string, int> namesakes_, counted_;
  std::set<std::string> names_, said_;
  std::map<Index, std::vector<Member>> groups_;  ///< of dynamic and static bodies
  std::vector<Member> scripted_;                 ///< static and kinematic bodies
};

}  // namespace

}  // namespace apart::rigid_ipc

namespace apart {

ImportedScene import_rigid_ipc_fixture(const std::filesystem::path& file, const ImportOptions& options) {
  return rigid_ipc::FixtureImporter(file, options).import();
}

}  // namespace apart
