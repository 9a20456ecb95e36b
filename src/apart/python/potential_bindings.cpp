// Contact as an energy: barrier and friction, with gradient and Hessian in the positions of vertices.
#include <apart/potentials/friction.hpp>
#include <apart/python/collision_mesh.hpp>
#include <apart/python/contact_arrays.hpp>

#include <limits>

namespace apart::python {

namespace {

/// Energies are infinite where primitives touch, and have no derivatives there.
void ensure_derivatives(bool finite) {
  if (!finite)
    throw InputError(
        "positions: primitives touch there, or are nearer than the thickness, where the barrier has no "
        "derivatives; value() is inf there, and step_bound() leads to positions that are apart");
}

/// Rows, columns and values of the Hessian in the 3n coordinates, vertex by vertex; entries at the same place
/// add up.
py::tuple hessian_entries(const Potential& potential, const Matrix3X& x, bool project) {
  const Index terms = potential.term_count();
  std::vector<std::size_t> start(std::size_t(terms) + 1, 0);
  for (Index i = 0; i < terms; ++i) {
    const std::size_t size = 3 * potential.term(i).size();
    start[std::size_t(i) + 1] = start[std::size_t(i)] + size * size;
  }
  const auto count = Eigen::Index(start.back());
  Eigen::MatrixXi places(2, count);
  VectorX values(count);
  compute([&] {
    parallel_chunks(terms, 64, [&](Index begin, Index end) {
      LocalHessians local;
      local.reset(potential, begin, end);
      potential.hessians(x, begin, end, project ? Projection::psd : Projection::none, local);
      for (Index i = begin; i < end; ++i) {
        const TermPoints points = potential.term(i);
        const auto block = std::as_const(local)[i];
        auto next = Eigen::Index(start[std::size_t(i)]);
        for (Index c = 0; c < block.cols(); ++c)
          for (Index r = 0; r < block.rows(); ++r, ++next) {
            places(0, next) = 3 * points[std::size_t(r / 3)] + r % 3;
            places(1, next) = 3 * points[std::size_t(c / 3)] + c % 3;
            values[next] = block(r, c);
          }
      }
    });
  });
  ensure_derivatives(values.allFinite());
  return py::make_tuple(owned(std::move(places)), owned(std::move(values)));
}

Matrix3X gradient_of(const Potential& potential, const Matrix3X& x) {
  return compute([&] {
    Matrix3X gradient = Matrix3X::Zero(3, x.cols());
    potential.add_gradient(x, gradient);
    ensure_derivatives(gradient.allFinite());
    return gradient;
  });
}

/// The barrier of a mesh, with what it refers to.
class BarrierOfMesh {
 public:
  BarrierOfMesh(std::shared_ptr<CollisionMesh> mesh, double stiffness)
      : mesh_(std::move(mesh)), candidates_(mesh_->cache()), contact_(mesh_->surface, candidates_) {
    if (!(stiffness > 0 && std::isfinite(stiffness)))
      throw InputError("stiffness: got {}, must be positive", stiffness);
    contact_.set_stiffness(stiffness);
  }

  /// Prepared there.
  Matrix3X at(const py::object& positions) {
    Matrix3X x = mesh_->positions(positions, "positions");
    compute([&] { contact_.prepare(x); });
    return x;
  }
  BarrierContact& contact() { return contact_; }
  const std::shared_ptr<CollisionMesh>& mesh() const { return mesh_; }
  bool& in_use() { return in_use_; }

  py::dict contacts(const Matrix3X& x) const {
    ContactArrays arrays(contact_.term_count());
    for (Index i = 0; i < contact_.term_count(); ++i) {
      const BarrierContact::NormalForce force = contact_.normal_force(i, x);
      arrays.set(i, force, force.points.ids, force.points.size);
    }
    return arrays.dictionary("vertices");
  }

 private:
  std::shared_ptr<CollisionMesh> mesh_;
  CandidateCache candidates_;
  BarrierContact contact_;
  bool in_use_ = false;
};

/// Friction with lagged normal forces.
class FrictionOfMesh {
 public:
  FrictionOfMesh(BarrierOfMesh& barrier, const py::object& lagged, const py::object& start, double dt)
      : mesh_(barrier.mesh()), friction_(mesh_->surface) {
    if (!(dt > 0 && std::isfinite(dt))) throw InputError("dt: got {}, must be positive [s]", dt);
    const InUse use(barrier.in_use());
    const Matrix3X x = barrier.at(lagged);
    friction_.set_start(mesh_->positions(start, "start"));
    compute([&] { friction_.set_lag(barrier.contact(), x, dt); });
  }
  Matrix3X at(const py::object& positions) const { return mesh_->positions(positions, "positions"); }
  const Friction& friction() const { return friction_; }

 private:
  std::shared_ptr<CollisionMesh> mesh_;
  Friction friction_;
};

}  // namespace

void bind_potentials(py::module_& m) {
  py::class_<BarrierOfMesh>(
      m, "Barrier",
      "The contact barrier of a mesh: stiffness * sum of b(d2 - thickness2) over all pairs in "
      "reach.")
      .def(py::init<std::shared_ptr<CollisionMesh>, double>(), py::arg("mesh").none(false),
           py::arg("stiffness"))
      .def(
          "value",
          [](BarrierOfMesh& b, const py::object& positions) {
            const InUse use(b.in_use());
            const Matrix3X x = b.at(positions);
            // An edge that lies on a parallel one has a mollifier of 0 and a barrier of inf.
            const double value = compute([&] { return b.contact().value(x); });
            return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
          },
          py::arg("positions"), "inf if primitives are not apart")
      .def(
          "gradient",
          [](BarrierOfMesh& b, const py::object& positions) {
            const InUse use(b.in_use());
            const Matrix3X x = b.at(positions);
            return owned(gradient_of(b.contact(), x));
          },
          py::arg("positions"), "(n, 3)")
      .def(
          "hessian_entries",
          [](BarrierOfMesh& b, const py::object& positions, bool project) {
            const InUse use(b.in_use());
            const Matrix3X x = b.at(positions);
            return hessian_entries(b.contact(), x, project);
          },
          py::arg("positions"), py::arg("project"))
      .def(
          "contacts",
          [](BarrierOfMesh& b, const py::object& positions) {
            const InUse use(b.in_use());
            const Matrix3X x = b.at(positions);
            return b.contacts(x);
          },
          py::arg("positions"),
          "The contacts: vertices (n, 4), -1 where there are fewer; weights (n, 4); normals (n, 3), from the "
          "second "
          "primitive to the first; forces and distances (n,).");
  py::class_<FrictionOfMesh>(
      m, "Friction",
      "Friction of a step as an energy. Normal forces and tangent planes are those of the barrier "
      "at `lagged`, sliding is measured from `start`, and the step takes `dt` [s].")
      .def(py::init<BarrierOfMesh&, const py::object&, const py::object&, double>(), py::arg("barrier"),
           py::arg("lagged"), py::arg("start"), py::arg("dt"))
      .def(
          "value",
          [](const FrictionOfMesh& f, const py::object& positions) {
            const Matrix3X x = f.at(positions);
            return compute([&] { return f.friction().value(x); });
          },
          py::arg("positions"))
      .def(
          "gradient",
          [](const FrictionOfMesh& f, const py::object& positions) {
            const Matrix3X x = f.at(positions);
            return owned(gradient_of(f.friction(), x));
          },
          py::arg("positions"), "(n, 3)")
      .def(
          "hessian_entries",
          [](const FrictionOfMesh& f, const py::object& positions, bool project) {
            const Matrix3X x = f.at(positions);
            return hessian_entries(f.friction(), x, project);
          },
          py::arg("positions"), py::arg("project"));
}

}  // namespace apart::python
