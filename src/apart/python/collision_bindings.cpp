// Collision queries on meshes: candidates, impacts, bounds of steps.
#include <apart/collision/collision_detection.hpp>
#include <apart/collision/inversion.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/python/collision_mesh.hpp>

namespace apart::python {

namespace {

/// Settings of contact that a call gives by name.
PairSettings settings_of(const py::dict& given, PairSettings settings) {
  const auto number = [](const py::handle& value, const std::string& name) {
    const double result = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw InputError("{}: got an object of type {}, must be a number", name,
                       std::string(py::str(py::type::handle_of(value).attr("__name__"))));
    }
    return result;
  };
  for (const auto& [key, value] : given) {
    const auto name = py::str(key).cast<std::string>();
    if (name == "dhat")
      settings.dhat = number(value, name);
    else if (name == "thickness")
      settings.thickness = number(value, name);
    else if (name == "friction")
      settings.friction = number(value, name);
    else if (name == "epsv")
      settings.epsv = number(value, name);
    else if (name == "enabled" && PyBool_Check(value.ptr()))
      settings.enabled = value.ptr() == Py_True;
    else if (name == "enabled")
      throw InputError("enabled: got {}, must be True or False", std::string(py::repr(value)));
    else
      throw InputError("{}: unknown setting of contact; known are dhat, thickness, friction, epsv, enabled",
                       name);
  }
  return settings;
}

/// Half-spaces as pairs (origin, normal); each is a body of its own, after those of the vertices.
std::vector<HalfSpace> half_spaces_of(const py::list& given, int first_body) {
  std::vector<HalfSpace> result;
  for (const py::handle item : given) {
    if (!py::isinstance<py::sequence>(item) || py::len(item) != 2)
      throw InputError("half_spaces: entry {} must be a pair (origin, normal)", result.size());
    const auto pair = py::reinterpret_borrow<py::sequence>(item);
    const Vector3 normal = vector_of(pair[1], "normal");
    if (normal.squaredNorm() == 0)
      throw InputError("normal: got (0, 0, 0), must have a direction; try (0, 1, 0)");
    result.push_back(
        {vector_of(pair[0], "origin"), normal.stableNormalized(), first_body + int(result.size())});
  }
  return result;
}

struct MeshArguments {
  const py::object &rest, &triangles, &segments, &bodies;
  const py::dict &contact, &pairs;
  const py::list& half_spaces;
  const std::string& broad_phase;
};

std::shared_ptr<CollisionMesh> make_mesh(const MeshArguments& a) {
  Matrix3X rest = points_of(a.rest, "rest");
  const Index n = Index(rest.cols());
  Faces faces = cells_of(a.triangles, "triangles", 3, n);
  Edges segments = cells_of(a.segments, "segments", 2, n);
  std::vector<int> bodies(std::size_t(n), 0);
  if (!a.bodies.is_none()) bodies = integers_of(a.bodies, "bodies", n);
  const int body_count = bodies.empty() ? 1 : *std::max_element(bodies.begin(), bodies.end()) + 1;
  if (body_count > std::max(n, 1))
    throw InputError("bodies: got the body {} of {} vertices; number bodies from 0", body_count - 1, n);
  std::vector<HalfSpace> planes = half_spaces_of(a.half_spaces, body_count);
  const PairSettings everywhere = settings_of(a.contact, {});
  const int all = body_count + int(planes.size());
  PairTable table(all, everywhere);
  for (int b = 0; b < all; ++b) table.set(b, b, everywhere);  // which checks them
  for (const auto& [pair, settings] : a.pairs) {
    if (!py::isinstance<py::tuple>(pair) || py::len(pair) != 2 || !py::isinstance<py::dict>(settings))
      throw InputError(
          "pairs: got {}: {}, must be two bodies and their settings, such as (0, 1): {{\"enabled\": False}}",
          std::string(py::repr(pair)), std::string(py::repr(settings)));
    const auto names = py::reinterpret_borrow<py::tuple>(pair);
    const std::pair two(whole_number_of(names[0], "pairs"), whole_number_of(names[1], "pairs"));
    if (std::min(two.first, two.second) < 0 || std::max(two.first, two.second) >= all)
      throw InputError("pairs: ({}, {}) names a body that is not there; bodies are 0 to {}, then half-spaces",
                       two.first, two.second, all - 1);
    table.set(two.first, two.second, settings_of(settings.cast<py::dict>(), everywhere));
  }
  return compute([&] {
    auto mesh = std::make_shared<CollisionMesh>(
        CollisionMesh{CollisionSurface(std::move(rest), std::move(faces), std::move(segments),
                                       std::move(bodies), std::move(table), std::move(planes)),
                      a.broad_phase});
    make_broad_phase(a.broad_phase, mesh->surface);  // says so if there is none of that name
    return mesh;
  });
}

/// kind → (n, k) vertices, the first primitive's first.
py::dict candidates_dict(const Candidates& candidates) {
  py::dict result;
  for (const PairKind kind :
       {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle, PairKind::edge_edge}) {
    const int k = point_count(kind);
    const auto of_kind = [&](const Stencil& s) { return s.kind == kind; };
    Eigen::MatrixXi vertices(k, std::count_if(candidates.begin(), candidates.end(), of_kind));
    Index next = 0;
    for (const Stencil& s : candidates)
      if (of_kind(s)) {
        for (int i = 0; i < k; ++i) vertices(i, next) = s.vertices[std::size_t(i)];
        ++next;
      }
    result[py::str(std::string(name_of_kind(kind)))] = owned(std::move(vertices));
  }
  return result;
}

py::dict find(const CollisionMesh& mesh, const py::object& start, const py::object& end, double radius) {
  if (!(radius >= 0 && std::isfinite(radius)))
    throw InputError("radius: got {}, must not be negative [m]", radius);
  const Matrix3X x0 = mesh.positions(start, "start");
  const Matrix3X x1 = end.is_none() ? x0 : mesh.positions(end, "end");
  return candidates_dict(
      compute([&] { return make_broad_phase(mesh.broad_phase, mesh.surface)->find(x0, x1, radius); }));
}

py::object impact(const CollisionMesh& mesh, const py::object& start, const py::object& end) {
  const Matrix3X x0 = mesh.positions(start, "start"), x1 = mesh.positions(end, "end");
  const std::optional<Impact> found = compute([&] { return earliest_impact(mesh.surface, x0, x1); });
  if (!found) return py::none();
  if (found->half_space >= 0)
    return py::make_tuple(found->time, "half_space",
                          py::make_tuple(found->pair.vertices[0], found->half_space));
  py::list vertices;
  for (int i = 0; i < found->pair.size(); ++i) vertices.append(found->pair.vertices[std::size_t(i)]);
  return py::make_tuple(found->time, std::string(name_of_kind(found->pair.kind)), py::tuple(vertices));
}

/// Points where a function of Python says.
class PythonCurve final : public Curve {
 public:
  PythonCurve(const py::function& path, Index points, Watch& watch)
      : path_(path), points_(points), watch_(watch) {}
  std::array<Vector3, 4> at(double t, std::span<const Index> points) const override {
    std::array<Vector3, 4> result;
    result.fill(
        Vector3::Constant(std::numeric_limits<double>::quiet_NaN()));  // ends the step, as the error will
    watch_.call([&] {
      const Matrix3X x = points_of(path_(t), "path(t)", points_);
      for (std::size_t i = 0; i < points.size(); ++i) result[i] = x.col(points[i]);
    });
    return result;
  }

 private:
  const py::function& path_;
  Index points_;
  Watch& watch_;
};

py::tuple curved_bound(const CollisionMesh& mesh, const py::function& path, const py::object& bend,
                       double rounding, const std::string& method) {
  if (!(rounding >= 0)) throw InputError("rounding: got {}, must not be negative [m]", rounding);
  Watch watch;
  const PythonCurve curve(path, mesh.surface.vertex_count(), watch);
  Path way{.start = mesh.positions(path(0.0), "path(0)"), .move = mesh.positions(path(1.0), "path(1)")};
  way.move -= way.start;
  way.bend = numbers_of(bend, "bend", mesh.surface.vertex_count());
  if (way.bend.size() > 0 && way.bend.minCoeff() < 0)
    throw InputError("bend: got {}, must not be negative: a bound of the length of d2x/dt2",
                     way.bend.minCoeff());
  way.rounding = rounding;
  way.curve = &curve;
  const CcdOptions options{.method = ccd_method_of(method)};
  const StepBound bound = compute([&] {
    CandidateCache cache = mesh.cache();
    return collision_free_step(mesh.surface, cache, way, options);
  });
  watch.raise();
  return py::make_tuple(bound.alpha, bound.corners);
}

double bound_of(const CollisionMesh& mesh, const py::object& start, const py::object& end,
                const std::string& method) {
  Path path{.start = mesh.positions(start, "start"), .move = mesh.positions(end, "end")};
  path.move -= path.start;
  const CcdOptions options{.method = ccd_method_of(method)};
  return compute([&] {
    CandidateCache cache = mesh.cache();
    return collision_free_step(mesh.surface, cache, path, options).alpha;
  });
}

}  // namespace

void bind_collision(py::module_& m) {
  using Mesh = CollisionMesh;
  m.def(
      "broad_phases",
      [] {
        std::vector<std::string> names;
        for (const BroadPhaseMethod& method : broad_phase_methods()) names.emplace_back(method.name);
        return names;
      },
      "Names of the methods that find candidate pairs.");
  py::class_<Mesh, std::shared_ptr<Mesh>>(
      m, "CollisionMesh",
      "Triangles, segments and points, and how they touch; positions are given with "
      "each query.")
      .def(py::init([](const py::object& rest, const py::object& triangles, const py::object& segments,
                       const py::object& bodies, const py::list& half_spaces, const py::dict& pairs,
                       const std::string& broad_phase, const py::kwargs& contact) {
             return make_mesh({rest, triangles, segments, bodies, contact, pairs, half_spaces, broad_phase});
           }),
           py::arg("rest"), py::arg("triangles") = py::none(), py::arg("segments") = py::none(),
           py::kw_only(), py::arg("bodies") = py::none(), py::arg("half_spaces") = py::list(),
           py::arg("pairs") = py::dict(), py::arg("broad_phase") = "bvh",
           "rest: (n, 3) [m]; triangles (m, 3) and segments (m, 2) of their indices; bodies: (n,), the body "
           "of each "
           "vertex, 0 if not given; half_spaces: (origin, normal) each, which are bodies after those; "
           "contact of all "
           "pairs by dhat [m], thickness [m], friction, epsv [m/s], enabled, and of single ones by pairs, "
           "{(body, body): {...}}.")
      .def_property_readonly(
          "edges", [](const py::object& self) { return shown(self.cast<const Mesh&>().surface.edges, self); },
          "(m, 2) all edges, of triangles and segments")
      .def_property_readonly(
          "triangles",
          [](const py::object& self) { return shown(self.cast<const Mesh&>().surface.faces, self); })
      .def("candidates", &find, py::arg("start"), py::arg("end") = py::none(), py::arg("radius") = 0.0,
           "kind -> (n, k) vertices: all pairs of primitives that come within `radius` [m] of each other on "
           "the way, and "
           "some more.")
      .def("earliest_impact", &impact, py::arg("start"), py::arg("end"),
           "(time, kind, vertices) of the first impact on straight paths; None if there is none. Never too "
           "late. At a half-space the kind is half_space, and the last entry the vertex and the index of the "
           "half-space.")
      .def(
          "is_step_free",
          [](const Mesh& mesh, const py::object& start, const py::object& end) {
            const Matrix3X x0 = mesh.positions(start, "start"), x1 = mesh.positions(end, "end");
            return compute([&] { return is_step_free(mesh.surface, x0, x1); });
          },
          py::arg("start"), py::arg("end"), "Whether nothing touches on the way; True is certain.")
      .def("step_bound", &bound_of, py::arg("start"), py::arg("end"), py::arg("method") = "additive",
           "A share of the way in [0, 1] on which nothing touches, with room left for contact forces.")
      .def("curved_step_bound", &curved_bound, py::arg("path"), py::arg("bend"), py::kw_only(),
           py::arg("rounding") = 0.0, py::arg("method") = "additive",
           "The same for points at path(t), t from 0 to 1, whose second derivatives are no longer than bend "
           "(n,) [m]: "
           "(share, corners). Straight lines between the corners are free too.")
      .def(
          "self_intersects",
          [](const Mesh& mesh, const py::object& positions) {
            const Matrix3X x = mesh.positions(positions, "positions");
            return compute([&] { return self_intersects(mesh.surface, x); });
          },
          py::arg("positions"),
          "Whether two primitives of the mesh intersect or touch; exact. Half-spaces are not asked.");
  m.def(
      "inversion_free_step",
      [](const py::object& tetrahedra, const py::object& start, const py::object& end) {
        const Matrix3X x = points_of(start, "start");
        const Matrix3X p = points_of(end, "end", Index(x.cols())) - x;
        const Tetrahedra cells = cells_of(tetrahedra, "tetrahedra", 4, Index(x.cols()));
        return compute([&] { return inversion_free_step(cells, x, p); });
      },
      py::arg("tetrahedra"), py::arg("start"), py::arg("end"),
      "A share of the way in [0, 1] on which no tetrahedron is inverted.");
}

}  // namespace apart::python
