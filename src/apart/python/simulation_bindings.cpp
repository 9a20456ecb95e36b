#include <apart/python/bindings.hpp>
#include <apart/python/contact_arrays.hpp>
#include <apart/run/checkpoint.hpp>
#include <apart/run/start_check.hpp>
#include <apart/run/step_table.hpp>
#include <apart/simulation/simulation.hpp>

#include <memory>

namespace apart::python {

namespace {

py::dict report_dict(const StepReport& report) {
  py::dict result;
  for_each_column(report,
                  [&](std::string_view name, double value) { result[py::str(std::string(name))] = value; });
  return result;
}

/// What a state holds, for pickling: name → number or array.
py::dict state_dict(const State& state) {
  py::dict result;
  for_each_member(
      [&](const char* name, const auto& member) {
        using T = std::remove_cvref_t<decltype(member)>;
        if constexpr (std::is_arithmetic_v<T>)
          result[name] = member;
        else
          result[name] = owned(T(member));
      },
      state);
  return result;
}

State state_of(const py::dict& members) {
  State state;
  for_each_member(
      [&](const char* name, auto& member) {
        using T = std::remove_cvref_t<decltype(member)>;
        if (!members.contains(name)) throw InputError("state: '{}' is missing; save the state again", name);
        const py::object value = members[name];
        if constexpr (std::is_same_v<T, Matrix3X>)
          member = points_of(value, name);
        else if constexpr (std::is_same_v<T, VectorX>)
          member = numbers_of(value, name);
        else
          member = T(number_of(value, name));
      },
      state);
  return state;
}

/// While it exists a simulation asks whether to stop.
class Watched {
 public:
  Watched(Simulation& simulation, Watch& watch) : simulation_(simulation) {
    simulation.should_stop = [&watch] { return watch.should_stop(); };
  }
  ~Watched() { simulation_.should_stop = nullptr; }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Simulation& simulation_;
};

/// A simulation whose scene may change between steps: what depends on the scene is then built again, and goes
/// on from the same state.
class Stepper {
 public:
  explicit Stepper(SceneFile file) : file_(std::move(file)) {
    compute([&] {
      build();
      ensure_feasible_start(*scene_, file_);
      simulation_ = std::make_unique<Simulation>(scene_->model);
    });
  }

  py::dict step(Index count, const py::object& callback) {
    if (count < 1) throw InputError("step: got {} steps, must be at least 1", count);
    const InUse use(in_use_);
    Watch watch;
    const Watched watched(*simulation_, watch);
    try {
      for (Index i = 0; i < count; ++i) {
        {
          const InUse state_in_use(stepping_);
          compute([&] { report_ = simulation_->step(); });
        }
        if (!callback.is_none()) callback(report_dict(*report_));
      }
    } catch (const Interrupted&) {
    }
    watch.raise();
    return report_dict(*report_);
  }

  void change(const std::vector<std::string>& changes) {
    const InUse use(in_use_), state_use(stepping_);
    SceneFile file =
        compute([&] { return understand_scene(JsonValue(*file_.json), file_.name, "", changes); });
    const SceneFile before = std::exchange(file_, std::move(file));
    const std::shared_ptr<const Scene> old_scene = scene_;
    try {
      compute([&] { build(); });
      refuse_other_start(*old_scene->model, *scene_->model);
      check_state("change", simulation_->state(), *scene_->model);
      compute(
          [&] { simulation_ = std::make_unique<Simulation>(scene_->model, State(simulation_->state())); });
    } catch (...) {
      file_ = before;
      scene_ = old_scene;
      throw;
    }
    report_.reset();
  }

  void set_state(const State& state) {
    const InUse use(in_use_), state_use(stepping_);
    check_state("state", state, *scene_->model);
    compute([&] { simulation_ = std::make_unique<Simulation>(scene_->model, State(state)); });
    report_.reset();
  }

  void set_velocities(const py::object& velocities) {
    State state = this->state();
    state.velocity = points_of(velocities, "velocities", scene_->model->node_count());
    set_state(state);
  }

  /// Values of all probes after the last step.
  py::dict probes() {
    const InUse use(stepping_);
    ensure_stepped("probes");
    py::dict result;
    for (const Probe& probe : scene_->probes) {
      const std::vector<double> values = simulation_->measure(probe);
      const auto columns = columns_of(probe.kind);
      for (std::size_t i = 0; i < values.size(); ++i)
        result[py::str(fmt::format("{}.{}", probe.name, columns[i]))] = values[i];
    }
    return result;
  }

  py::dict contacts() {
    const InUse use(stepping_);
    const std::vector<ContactForce> contacts =
        report_ ? simulation_->contacts() : std::vector<ContactForce>();
    const Index n = Index(contacts.size());
    Eigen::MatrixXi bodies(2, n);
    ContactArrays arrays(n);
    for (Index i = 0; i < n; ++i) {
      const ContactForce& c = contacts[std::size_t(i)];
      bodies.col(i) << c.bodies.first, c.bodies.second;
      arrays.set(i, c, c.points);
    }
    py::dict result = arrays.dictionary("points");
    result["bodies"] = owned(std::move(bodies));
    return result;
  }

  const Model& model() const { return *scene_->model; }
  const Scene& scene() const { return *scene_; }
  const SceneFile& file() const { return file_; }
  /// While a step is under way in another thread it may change at any time.
  const State& state() const {
    if (stepping_) throw py::value_error(InUse::message);
    return simulation_->state();
  }
  Frame frame() {
    const InUse use(stepping_);
    return compute([&] { return simulation_->frame(); });
  }
  py::array positions() const { return owned(model().point_map.positions(state().nodes)); }
  py::array velocities() const { return owned(model().point_map.push_forward(state().velocity)); }

 private:
  void build() { scene_ = std::make_shared<const Scene>(build_scene(file_)); }

  void ensure_stepped(std::string_view what) const {
    if (!report_) throw InputError("{}: are measured after a step; call step() first", what);
  }

  /// A change of what a run starts from would have no effect on a state that has left it.
  static void refuse_other_start(const Model& before, const Model& after) {
    const auto same = [](const Matrix3X& a, const Matrix3X& b) { return a.cols() == b.cols() && a == b; };
    if (!same(before.initial_nodes, after.initial_nodes) || before.first_node != after.first_node ||
        before.joints.size() != after.joints.size())
      throw InputError(
          "change: would change bodies, their meshes or where they start; make a new Simulation");
    if (!same(before.initial_velocity, after.initial_velocity))
      throw InputError("change: a velocity at the start has no effect any more; use set_velocities");
  }

  SceneFile file_;
  std::shared_ptr<const Scene> scene_;
  std::unique_ptr<Simulation> simulation_;
  std::optional<StepReport> report_;  ///< of the last step; none: the state was set, or the scene changed
  bool in_use_ =
      false;  ///< from the begin of the first to the end of the last step, with callbacks between them
  bool stepping_ = false;  ///< the simulation itself is in use
};

}  // namespace

void bind_simulation(py::module_& m) {
  py::class_<State, std::shared_ptr<State>>(
      m, "State",
      "What changes in time; from the same state the same steps follow, bit by "
      "bit. It can be pickled.")
      .def_readonly("step", &State::step)
      .def_readonly("time", &State::time, "[s]")
      .def_property_readonly(
          "nodes", [](const py::object& self) { return shown(self.cast<const State&>().nodes, self); },
          "(n, 3) [m], not to be written")
      .def_property_readonly(
          "velocity", [](const py::object& self) { return shown(self.cast<const State&>().velocity, self); },
          "(n, 3) [m/s], not to be written")
      .def_static(
          "of", [](const py::dict& members) { return std::make_shared<State>(state_of(members)); },
          py::arg("members"), "The state that was pickled so.")
      .def("members", &state_dict, "What it holds, for pickling: name → number or array.");

  py::class_<Stepper>(m, "Stepper")
      .def(py::init<SceneFile>(), py::arg("scene"))
      .def("step", &Stepper::step, py::arg("count"), py::arg("callback"))
      .def("change", &Stepper::change, py::arg("changes"))
      .def("set_velocities", &Stepper::set_velocities, py::arg("velocities"))
      .def("probes", &Stepper::probes)
      .def("contacts", &Stepper::contacts)
      .def("frame", [](Stepper& s) { return std::make_shared<Frame>(s.frame()); })
      .def_property_readonly("positions", &Stepper::positions)
      .def_property_readonly("velocities", &Stepper::velocities)
      .def_property(
          "state", [](const Stepper& s) { return std::make_shared<State>(s.state()); }, &Stepper::set_state)
      .def_property_readonly("step_count", [](const Stepper& s) { return s.state().step; })
      .def_property_readonly("time", [](const Stepper& s) { return s.state().time; })
      .def_property_readonly("dt", [](const Stepper& s) { return s.model().options.dt; })
      .def_property_readonly("steps", [](const Stepper& s) { return s.scene().steps; })
      .def_property_readonly("scene", [](const Stepper& s) { return s.file(); })
      .def_property_readonly("bodies", [](const Stepper& s) {
        std::vector<std::tuple<std::string, Index, Index>> bodies;  // name, first point, one past the last
        for (std::size_t b = 0; b < s.model().bodies.size(); ++b)
          bodies.emplace_back(s.model().bodies[b].name, s.model().first_point[b],
                              s.model().first_point[b + 1]);
        return bodies;
      });
}

}  // namespace apart::python
