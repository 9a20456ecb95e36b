#include <apart/bodies/mass_distribution.hpp>

#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <span>

namespace apart {

namespace {

/// Adds up masses and first and second moments about a point near the body, to avoid cancellation.
class Moments {
 public:
  explicit Moments(const Vector3& origin) : origin_(origin) {}

  /// A simplex of n corners (one is a point, four are a tetrahedron) of mass m:
  /// ∫ρ x xᵀ = m/(n (n + 1)) (Σxᵢ Σxᵢᵀ + Σ xᵢ xᵢᵀ).
  void add(double mass, std::span<const Vector3> corners) {
    const double n = double(corners.size());
    Vector3 sum = Vector3::Zero();
    Matrix3 squares = Matrix3::Zero();
    for (const Vector3& corner : corners) {
      const Vector3 x = corner - origin_;
      sum += x;
      squares += x * x.transpose();
    }
    mass_ += mass;
    first_ += mass / n * sum;
    second_ += mass / (n * (n + 1)) * (sum * sum.transpose() + squares);
  }

  MassDistribution distribution() const {
    const Vector3 centre = first_ / mass_;
    return {mass_, origin_ + centre, second_ - mass_ * centre * centre.transpose()};
  }

  const Vector3& origin() const { return origin_; }

 private:
  Vector3 origin_;
  double mass_ = 0;
  Vector3 first_ = Vector3::Zero();
  Matrix3 second_ = Matrix3::Zero();
};

}  // namespace

Matrix3 inertia_of(const Matrix3& second_moment) {
  return second_moment.trace() * Matrix3::Identity() - second_moment;
}

Matrix3 MassDistribution::inertia() const {
  return inertia_of(second_moment);
}

Matrix3 second_moment_of(const Matrix3& inertia) {
  return 0.5 * inertia.trace() * Matrix3::Identity() - inertia;
}

MassDistribution mass_distribution(const Mesh& mesh, double density) {
  const Matrix3X& x = mesh.points;
  Moments moments(0.5 * (x.rowwise().minCoeff() + x.rowwise().maxCoeff()));
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    std::array<Vector3, 4> c;
    for (std::size_t k = 0; k < 4; ++k) c[k] = x.col(mesh.tetrahedra(Index(k), t));
    moments.add(density * signed_volume6(c[0], c[1], c[2], c[3]) / 6, c);
  }
  const std::vector<char> closed = faces_of_closed_pieces(mesh);
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    std::array<Vector3, 4> c;
    for (std::size_t k = 0; k < 3; ++k) c[k] = x.col(mesh.faces(Index(k), f));
    c[3] = moments.origin();
    // A face seen from outside, with the origin behind it, is the mirror image of a positive tetrahedron.
    if (closed[std::size_t(f)])
      moments.add(-density * signed_volume6(c[0], c[1], c[2], c[3]) / 6, c);
    else
      moments.add(density * 0.5 * (c[1] - c[0]).cross(c[2] - c[0]).norm(), std::span(c).first(3));
  }
  for (Index e = 0; e < mesh.edges.cols(); ++e) {
    const std::array<Vector3, 2> c = {x.col(mesh.edges(0, e)), x.col(mesh.edges(1, e))};
    moments.add(density * (c[1] - c[0]).norm(), c);
  }
  for (Index i = 0; i < mesh.vertices.size(); ++i)
    moments.add(density, std::array<Vector3, 1>{x.col(mesh.vertices[i])});
  return moments.distribution();
}

}  // namespace apart
