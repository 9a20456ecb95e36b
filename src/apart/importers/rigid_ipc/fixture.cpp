#include <apart/importers/rigid_ipc/fixture.hpp>
#include <apart/importers/rigid_ipc/import.hpp>
#include <apart/importers/section.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace apart::rigid_ipc {

namespace {

constexpr double most_steps = 1e9;

/// An object of a fixture.
class FixtureSection : public Section {
 public:
  /// `plane`: vectors have two coordinates, turns one.
  FixtureSection(const LocatedJson& at, std::string name, Notes& notes, bool plane = false)
      : Section(at, std::move(name), notes), plane_(plane) {}

  void take_vector(std::string_view key, Vector3& value) {
    take(key, value, [this](const LocatedJson& v) { return vector(v); });
  }
  Vector3 vector(const LocatedJson& v) const {
    if (!plane_) return v.vector();
    if (v.size() != 2)
      v.fail("got {}, must be two numbers: the fixture is of the plane (2D)", to_short_text(v.value()));
    return {v[std::size_t(0)].number(), v[std::size_t(1)].number(), 0};
  }
  /// In the plane one number, or a list of one.
  void take_turn(std::string_view key, Vector3& value) {
    take(key, value, [this](const LocatedJson& v) { return turn(v); });
  }
  Vector3 turn(const LocatedJson& v) const {
    if (!plane_) return v.vector();
    if (v.value().get_if<double>()) return {0, 0, v.number()};
    if (v.size() != 1)
      v.fail("got {}, must be one number: the fixture is of the plane (2D)", to_short_text(v.value()));
    return {0, 0, v[std::size_t(0)].number()};
  }
  bool plane() const { return plane_; }

 private:
  bool plane_;
};

/// Whether a fixture shows that it is of the plane.
bool is_of_plane(const LocatedJson& problem) {
  const auto size_of = [](const LocatedJson& v) {
    const auto* list = v.value().get_if<JsonValue::Array>();
    return list ? list->size() : 0;
  };
  if (problem.has("gravity") && size_of(problem["gravity"]) == 2) return true;
  if (!problem.has("rigid_bodies") || !problem["rigid_bodies"].value().get_if<JsonValue::Array>())
    return false;
  for (const LocatedJson& body : problem["rigid_bodies"].items()) {
    if (body.has("polygons")) return true;
    if (body.has("vertices") && size_of(body["vertices"]) > 0 && size_of(body["vertices"][0]) == 2)
      return true;
    for (const std::string_view key : {"position", "linear_velocity", "force"})
      if (body.has(key) && size_of(body[key]) == 2) return true;
    if (body.has("is_dof_fixed") && size_of(body["is_dof_fixed"]) == 3) return true;
  }
  return false;
}

template <int size>
std::vector<Eigen::Vector<int, size>> read_cells(const LocatedJson& list, Index points) {
  std::vector<Eigen::Vector<int, size>> result;
  for (const LocatedJson& item : list.items()) {
    if (item.size() != size)
      item.fail("got {}, must be {} vertices, counted from 0", to_short_text(item.value()), size);
    Eigen::Vector<int, size> cell;
    for (int k = 0; k < size; ++k) {
      const Index index = item[std::size_t(k)].integer();
      if (index < 0 || index >= points)
        item.fail("names vertex {}, but the body has {}, counted from 0", index, points);
      cell[k] = int(index);
    }
    result.push_back(cell);
  }
  return result;
}

void read_shape(FixtureSection& section, FixtureBody& body) {
  if (const auto mesh = section.find("mesh")) body.mesh = mesh->text();
  const auto vertices = section.find("vertices"), edges = section.find("edges"),
             faces = section.find("faces");
  if (!body.mesh.empty()) return;
  if (!vertices || vertices->size() == 0)
    section.at().fail("has no shape; add \"mesh\", or \"vertices\" with \"edges\" or \"faces\"");
  for (const LocatedJson& v : vertices->items()) body.vertices.push_back(section.vector(v));
  const Index count = Index(body.vertices.size());
  if (edges) body.edges = read_cells<2>(*edges, count);
  if (section.plane() && body.edges.empty())
    section.at().fail("has no \"edges\"; a body of the plane (2D) needs them");
  if (faces && section.plane()) faces->fail("a fixture of the plane (2D) has no faces; use \"edges\"");
  if (faces) body.faces = read_cells<3>(*faces, count);
}

/// x, y, z and turns about them; of the plane x, y and the turn.
std::array<bool, 6> read_fixed(const LocatedJson& at, bool plane) {
  std::array<bool, 6> result = {false, false, plane, plane, plane, false};
  if (const bool* all = at.value().get_if<bool>()) {
    if (*all) result.fill(true);
    return result;
  }
  const std::vector<std::size_t> given =
      plane ? std::vector<std::size_t>{0, 1, 5} : std::vector<std::size_t>{0, 1, 2, 3, 4, 5};
  if (at.size() != given.size())
    at.fail(
        "got {}, must be true, false or {}", to_short_text(at.value()),
        plane ? "three of them: x, y and the rotation" : "six of them: x, y, z and rotations about x, y, z");
  for (std::size_t k = 0; k < given.size(); ++k) result[given[k]] = at[k].boolean();
  return result;
}

void read_motion(FixtureSection& section, FixtureBody& body) {
  section.take_vector("linear_velocity", body.linear_velocity);
  section.take_turn("angular_velocity", body.angular_velocity);
  section.take_vector("force", body.force);
  section.take_turn("torque", body.torque);
  if (section.plane()) body.fixed = {false, false, true, true, true, false};
  if (const auto fixed = section.find("is_dof_fixed")) body.fixed = read_fixed(*fixed, section.plane());
  const std::string_view type = section.word("type", {"dynamic", "static", "kinematic"});
  body.type = type == "static" ? Type::still : type == "kinematic" ? Type::kinematic : Type::dynamic;
  if (std::ranges::all_of(body.fixed, [](bool f) { return f; })) body.type = Type::still;
  if (const auto until = section.find("kinematic_max_time"))
    if (until->number() >= 0) body.kinematic_max_time = until->number();
  if (const auto poses = section.find("kinematic_poses"))
    for (const LocatedJson& item : poses->items()) {
      if (!item.has("position")) item.fail("has no \"position\"");
      Pose pose{section.vector(item["position"]), {}};
      if (item.has("rotation")) pose.rotation = section.turn(item["rotation"]);
      body.poses.push_back(pose);
    }
}

std::optional<FixtureBody> read_body(const LocatedJson& at, bool plane, Notes& notes) {
  FixtureSection section(at, "body", notes, plane);
  bool enabled = true;
  section.take_boolean("enabled", enabled);
  if (!enabled) return std::nullopt;
  FixtureBody body{.at = at};
  read_shape(section, body);
  section.take_number("density", body.density);
  if (const auto scale = section.find("scale"))
    body.scale = scale->value().get_if<double>() ? Vector3(Vector3::Constant(scale->number()))
                                                 : section.vector(*scale);
  if (const auto dimensions = section.find("dimensions")) body.dimensions = section.vector(*dimensions);
  if (plane) body.scale[2] = 1;
  if (plane && body.dimensions) (*body.dimensions)[2] = 1;
  section.take_turn("rotation", body.rotation);
  section.take_vector("position", body.position);
  read_motion(section, body);
  section.take_integer("group_id", body.group);
  section.take_boolean("split_components", body.split);
  if (plane) section.find("polygons");  // the same shape once more, for drawing
  section.ignore({"oriented", "ipc_comparison_enabled", "coefficient_friction", "coefficient_restitution"});
  section.finish();
  if (body.type == Type::dynamic && !(body.density > 0))
    at["density"].fail("got {}, must be positive for a body that moves", body.density);
  return body;
}

void read_times(FixtureSection& top, Fixture& fixture, Notes& notes) {
  top.take_positive("timestep", fixture.dt);
  double max_time = -1;
  Index max_iterations = -1;
  top.take_number("max_time", max_time);
  top.take_integer("max_iterations", max_iterations);
  const double steps = max_time > 0          ? std::ceil(max_time / fixture.dt * (1 - 1e-12))
                       : max_iterations >= 0 ? double(max_iterations)
                                             : 1000;
  if (max_time > 0 && max_iterations >= 0)
    notes.add(*top.find("max_iterations"), "has no effect here: max_time says how many steps there are");
  if (!(steps >= 1 && steps <= most_steps))
    top.at().fail("asks for {} steps, must be from 1 to {:g}; check max_time, max_iterations and timestep",
                  steps, most_steps);
  fixture.steps = Index(steps);
}

void read_problem(const LocatedJson& at, Fixture& fixture, Notes& notes, Problems& problems) {
  if (!at.value().get_if<JsonValue::Object>())
    at.fail("got {}, must be an object {{...}}", to_short_text(at.value()));
  fixture.plane = is_of_plane(at);
  if (fixture.plane)
    notes.add(at,
              "is of the plane (2D): edges become strips 1 m wide, and bodies stay in the plane; contact "
              "between strips is that between edges and vertices");
  FixtureSection problem(at, "rigid_body_problem", notes, fixture.plane);
  problem.take_vector("gravity", fixture.gravity);
  problem.take_not_negative("coefficient_friction", fixture.friction);
  if (const auto restitution = problem.find("coefficient_restitution"))
    if (restitution->number() > 0)
      notes.add(*restitution, "has no effect here, nor in the reference unless scene_type is \"split_...\"");
  const std::string_view stepper =
      problem.word("time_stepper", {"default", "implicit_euler", "implicit_newmark", "stabilized_newmark"});
  fixture.newmark = stepper.ends_with("newmark");
  if (stepper == "stabilized_newmark")
    notes.add(*problem.find("time_stepper"), "becomes Newmark's method without stabilization");
  problem.ignore({"collision_eps", "do_intersection_check"});
  const auto bodies = problem.find("rigid_bodies");
  if (!bodies) at.fail("has no \"rigid_bodies\"");
  for (const LocatedJson& item : bodies->items())
    problems.collect([&] {
      if (auto body = read_body(item, fixture.plane, notes)) fixture.bodies.push_back(std::move(*body));
    });
  problem.finish();
}

void read_contact(FixtureSection& top, Fixture& fixture, Notes& notes) {
  if (const auto at = top.find("distance_barrier_constraint")) {
    FixtureSection section(*at, "distance_barrier_constraint", notes);
    section.take_positive("initial_barrier_activation_distance", fixture.dhat);
    section.take_not_negative("minimum_separation_distance", fixture.separation);
    if (section.word("barrier_type", {"ipc", "poly_log", "spline"}) != "ipc")
      section.ignore({"barrier_type"}, "the barrier is that of IPC");
    section.find("detection_method"), section.find("trajectory_type");  // neither changes the motion
    section.ignore({"custom_initial_epsilon", "active_constraint_scale", "extend_collision_set"});
    section.finish();
  }
  if (const auto at = top.find("friction_constraints")) {
    FixtureSection section(*at, "friction_constraints", notes);
    section.take_positive("static_friction_speed_bound", fixture.epsv);
    section.take_integer("iterations", fixture.friction_iterations);
    section.finish();
  }
}

void read_solver(const LocatedJson& at, const std::string& name, Fixture& fixture, Notes& notes) {
  FixtureSection section(at, name, notes);
  section.take_positive("velocity_conv_tol", fixture.tolerance);
  section.take_boolean("is_velocity_conv_tol_abs", fixture.absolute_tolerance);
  section.take("max_iterations", fixture.max_iterations, [](const LocatedJson& v) {
    if (v.integer() < 1) v.fail("got {}, must be positive", v.integer());
    return v.integer();
  });
  if (section.word("convergence_criteria", {"velocity", "energy"}) == "energy")
    section.ignore({"convergence_criteria"}, "steps end by the velocity");
  section.ignore({"energy_conv_tol", "is_energy_converged_conv_tol_abs", "line_search_lower_bound",
                  "linear_solver", "dhat_epsilon", "min_barrier_stiffness_scale"});
  section.finish();
}

Fixture read(std::shared_ptr<const JsonValue> root) {
  const LocatedJson whole(*root);
  const bool saved = !whole.has("rigid_body_problem");
  Fixture fixture{.root = root, .scene = saved ? whole["args"] : whole};
  Notes notes(fixture.notes);
  Problems problems;
  if (saved) notes.add(fixture.scene, "is the scene of a saved run; it is run from its start");
  FixtureSection top(fixture.scene, "", notes);
  problems.collect([&] {
    if (const auto type = top.find("scene_type"); type && type->text() != "distance_barrier_rb_problem")
      notes.add(*type, fmt::format("{} becomes \"distance_barrier_rb_problem\": all is solved at once",
                                   to_short_text(type->value())));
  });
  problems.collect([&] {
    if (const auto solver = top.find("solver"); solver && solver->text() != "ipc_solver")
      notes.add(*solver, fmt::format("{} becomes \"ipc_solver\"", to_short_text(solver->value())));
  });
  problems.collect([&] { read_times(top, fixture, notes); });
  problems.collect([&] { read_problem(*top.find("rigid_body_problem"), fixture, notes, problems); });
  problems.collect([&] { read_contact(top, fixture, notes); });
  for (const std::string name : {"newton_solver", "ipc_solver"})  // the second wins
    problems.collect([&] {
      if (const auto at = top.find(name)) read_solver(*at, name, fixture, notes);
    });
  top.find("viewport_bbox");
  top.finish();
  problems.throw_if_any();
  return fixture;
}

bool holds_fixture(const JsonValue& root) {
  const auto problem = [](const JsonValue* scene) { return scene && scene->find("rigid_body_problem"); };
  return problem(&root) || problem(root.find("args"));
}

}  // namespace

Fixture read_fixture(const std::filesystem::path& file) {
  auto root = std::make_shared<const JsonValue>(read_json(file));
  if (!holds_fixture(*root))
    LocatedJson(*root).fail("has no \"rigid_body_problem\"; it is no fixture of Rigid IPC");
  return read(std::move(root));
}

}  // namespace apart::rigid_ipc

namespace apart {

bool is_rigid_ipc_fixture(const std::filesystem::path& file) {
  if (lower_case(file.extension().string()) != ".json") return false;
  try {
    const FileReader reader(file);
    if (reader.content().find("\"rigid_body_problem\"") == std::string_view::npos) return false;
    return rigid_ipc::holds_fixture(parse_json(reader.content(), file.string()));
  } catch (const InputError&) {
    return false;  // whoever reads it as a scene says what is wrong
  }
}

}  // namespace apart
