// Single pairs of primitives: distances, barrier, continuous collision detection. All take one stencil (k, 3)
// or many (n, k, 3), the points of the first primitive first.
#include <apart/collision/ccd.hpp>
#include <apart/collision/curved_ccd.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/edge_edge_mollifier.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/python/collision_mesh.hpp>

namespace apart::python {

namespace {

/// Some stencils of one kind.
struct Stencils {
  PairKind kind;
  std::vector<StencilPoints> points;
  bool single = false;  ///< given without the first axis

  Index count() const { return Index(points.size()); }
  int size() const { return point_count(kind); }
};

Stencils stencils_of(PairKind kind, const py::object& value, std::string_view name) {
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  const int k = point_count(kind);
  if (!array || array.ndim() < 2 || array.ndim() > 3 || array.shape(array.ndim() - 1) != 3 ||
      array.shape(array.ndim() - 2) != k) {
    PyErr_Clear();
    throw InputError(
        "{}: got {}, must be ({}, 3) or (n, {}, 3) for {}; give the points of the first primitive first",
        name,
        array ? "an array of shape " + std::string(py::str(array.attr("shape"))) : "no array of numbers", k,
        k, name_of_kind(kind));
  }
  Stencils result{kind, {}, array.ndim() == 2};
  result.points.resize(std::size_t(array.size() / (3 * k)));
  const double* next = array.data();
  for (StencilPoints& x : result.points)
    for (int i = 0; i < k; ++i, next += 3) {
      x[std::size_t(i)] = Vector3(next[0], next[1], next[2]);
      if (!x[std::size_t(i)].allFinite())
        throw InputError("{}: stencil {} is not finite; find such rows with numpy.isfinite", name,
                         &x - result.points.data());
    }
  return result;
}

/// An array (n, ...) filled in parallel, or without its first axis for a single stencil.
template <class Fill>
py::object results(const Stencils& s, std::vector<py::ssize_t> shape, Fill&& fill) {
  py::ssize_t size = 1;
  for (const py::ssize_t extent : shape) size *= extent;
  if (!s.single) shape.insert(shape.begin(), s.count());
  py::array_t<double> result(shape);
  double* data = result.mutable_data();
  compute(
      [&] { parallel_for(s.count(), [&](Index i) { fill(s.points[std::size_t(i)], data + i * size); }); });
  if (s.single && shape.empty()) return py::float_(*data);
  return std::move(result);
}

py::object distances(const std::string& kind, const py::object& points) {
  const Stencils s = stencils_of(pair_kind_of(kind), points, "points");
  return results(s, {}, [&](const StencilPoints& x, double* out) { *out = squared_distance(s.kind, x); });
}

py::object gradients(const std::string& kind, const py::object& points) {
  const Stencils s = stencils_of(pair_kind_of(kind), points, "points");
  const int n = s.size();
  return results(s, {n, 3}, [&](const StencilPoints& x, double* out) {
    const StencilVector g = squared_distance_gradient(closest_feature(s.kind, x), n, x);
    std::copy(g.data(), g.data() + 3 * n, out);
  });
}

/// Copies the upper left 3n × 3n part.
void copy_part(const StencilMatrix& matrix, int n, double* out) {
  for (int r = 0; r < 3 * n; ++r)
    for (int c = 0; c < 3 * n; ++c) *out++ = matrix(r, c);
}

py::object hessians(const std::string& kind, const py::object& points) {
  const Stencils s = stencils_of(pair_kind_of(kind), points, "points");
  const int n = s.size();
  return results(s, {3 * n, 3 * n}, [&](const StencilPoints& x, double* out) {
    copy_part(squared_distance_hessian(closest_feature(s.kind, x), n, x), n, out);
  });
}

py::object weights(const std::string& kind, const py::object& points) {
  const Stencils s = stencils_of(pair_kind_of(kind), points, "points");
  return results(s, {s.size()}, [&](const StencilPoints& x, double* out) {
    const Vector4 w = closest_points(s.kind, x).weights;
    std::copy(w.data(), w.data() + s.size(), out);
  });
}

py::object mollifiers(const py::object& points, const py::object& rest) {
  const Stencils s = stencils_of(PairKind::edge_edge, points, "points");
  const Stencils r = stencils_of(PairKind::edge_edge, rest, "rest");
  if (r.count() != s.count())
    throw InputError("rest: got {} stencils, must be {}, one for each of points", r.count(), s.count());
  const StencilPoints* first = s.points.data();
  return results(s, {}, [&](const StencilPoints& x, double* out) {
    *out = edge_edge_mollifier_value(x, edge_edge_mollifier_threshold(r.points[std::size_t(&x - first)]));
  });
}

/// b, b′ and b″ at squared distances less ξ².
py::tuple barriers(const py::object& s, double s_hat) {
  if (!(s_hat > 0)) throw InputError("s_hat: got {}, must be positive", s_hat);
  const VectorX at = numbers_of(s, "s");
  VectorX value(at.size()), first(at.size()), second(at.size());
  for (Index i = 0; i < at.size(); ++i) {
    const Barrier b = barrier(at[i], s_hat);
    value[i] = b.value;
    first[i] = b.first;
    second[i] = b.second;
  }
  return py::make_tuple(owned(std::move(value)), owned(std::move(first)), owned(std::move(second)));
}

void check_separation(double separation) {
  if (!(separation >= 0 && std::isfinite(separation)))
    throw InputError("separation: got {}, must not be negative [m]", separation);
}

py::object times(const std::string& kind, const py::object& start, const py::object& end, double separation,
                 const CcdOptions& options) {
  check_separation(separation);
  const Stencils a = stencils_of(pair_kind_of(kind), start, "start"), b = stencils_of(a.kind, end, "end");
  if (a.count() != b.count())
    throw InputError("end: got {} stencils, must be {}, one for each of start", b.count(), a.count());
  const StencilPoints* first = a.points.data();
  return results(a, {}, [&](const StencilPoints& x, double* out) {
    const StencilPoints& x1 = b.points[std::size_t(&x - first)];
    CcdQuery query{.kind = a.kind, .x = x, .displacement = x, .separation = separation};
    for (std::size_t k = 0; k < std::size_t(a.size()); ++k) query.displacement[k] = x1[k] - x[k];
    *out = time_of_impact(query, options).value_or(infinity);
  });
}

py::tuple curved_time(const std::string& kind, const py::function& path, const py::object& bend,
                      std::pair<double, double> room, const CcdOptions& options) {
  const auto [separation, rounding] = room;
  check_separation(separation);
  if (!(rounding >= 0)) throw InputError("rounding: got {}, must not be negative [m]", rounding);
  const PairKind k = pair_kind_of(kind);
  const VectorX bends = numbers_of(bend, "bend", point_count(k));
  if (bends.size() > 0 && bends.minCoeff() < 0)
    throw InputError("bend: got {}, must not be negative: a bound of the length of d2x/dt2",
                     bends.minCoeff());
  const auto at = [&](double t) {
    const Stencils s = stencils_of(k, path(t), "path(t)");
    if (s.count() != 1) throw InputError("path(t): must be one stencil of shape ({}, 3)", point_count(k));
    return s.points[0];
  };
  const StencilPoints start = at(0), end = at(1);
  CurvedQuery query{.chord = {.kind = k, .x = start, .displacement = end, .separation = separation},
                    .bend = {},
                    .rounding = rounding,
                    .at = at};
  for (std::size_t i = 0; i < std::size_t(point_count(k)); ++i) {
    query.chord.displacement[i] = end[i] - start[i];
    query.bend[i] = bends[Index(i)];
  }
  const CurvedAnswer answer = curved_time_of_impact(query, options);
  return py::make_tuple(answer.time.value_or(infinity), answer.corners);
}

CcdOptions ccd_options(const std::string& method, double gap_fraction, double tolerance) {
  if (!(gap_fraction >= 0 && gap_fraction < 1))
    throw InputError("gap_fraction: got {}, must lie in [0, 1)", gap_fraction);
  if (!(tolerance > 0)) throw InputError("tolerance: got {}, must be positive [m]", tolerance);
  return {.method = ccd_method_of(method), .gap_fraction = gap_fraction, .tolerance = tolerance};
}

}  // namespace

CcdMethod ccd_method_of(const std::string& name) {
  if (name == "additive") return CcdMethod::additive;
  if (name == "tight_inclusion") return CcdMethod::tight_inclusion;
  throw InputError("method: got '{}', must be additive or tight_inclusion", name);
}

void bind_pairs(py::module_& m) {
  m.def("squared_distance", &distances, py::arg("kind"), py::arg("points"),
        "Squared distance [m2] of two primitives.");
  m.def("squared_distance_gradient", &gradients, py::arg("kind"), py::arg("points"), "(k, 3): its gradient.");
  m.def("squared_distance_hessian", &hessians, py::arg("kind"), py::arg("points"),
        "(3k, 3k): its second derivatives, not projected.");
  m.def("closest_weights", &weights, py::arg("kind"), py::arg("points"),
        "(k,): the weights w of the points, for which sum(w x) joins the closest points.");
  m.def("edge_edge_mollifier", &mollifiers, py::arg("points"), py::arg("rest"),
        "The factor that takes contact of nearly parallel edges to zero.");
  m.def("barrier", &barriers, py::arg("s"), py::arg("s_hat"),
        "b(s) = -(s - s_hat)^2 ln(s / s_hat) and its first two derivatives, at squared distances s.");
  m.def(
      "time_of_impact",
      [](const std::string& kind, const py::object& start, const py::object& end, double separation,
         const std::string& method, double gap_fraction, double tolerance) {
        return times(kind, start, end, separation, ccd_options(method, gap_fraction, tolerance));
      },
      py::arg("kind"), py::arg("start"), py::arg("end"), py::kw_only(), py::arg("separation") = 0.0,
      py::arg("method") = "tight_inclusion", py::arg("gap_fraction") = 0.0, py::arg("tolerance") = 1e-6,
      "The time in [0, 1) at which two primitives on straight paths come as close as `separation`, inf if "
      "they do not. "
      "Never too late.");
  m.def(
      "curved_time_of_impact",
      [](const std::string& kind, const py::function& path, const py::object& bend, double separation,
         double rounding, const std::string& method, double gap_fraction) {
        return curved_time(kind, path, bend, {separation, rounding}, ccd_options(method, gap_fraction, 1e-6));
      },
      py::arg("kind"), py::arg("path"), py::arg("bend"), py::kw_only(), py::arg("separation") = 0.0,
      py::arg("rounding") = 0.0, py::arg("method") = "additive", py::arg("gap_fraction") = 0.2,
      "The same for points at path(t), whose second derivatives are no longer than `bend`: (time, corners).");
}

}  // namespace apart::python
