#include <apart/bodies/control_tetrahedron.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

constexpr double arm_of_a_point = 1e-3;  // [m]: of a body without any extent

}  // namespace

const Eigen::Matrix<double, 3, 4>& ControlTetrahedron::directions() {
  static const Eigen::Matrix<double, 3, 4> e{{1, 1, -1, -1}, {1, -1, -1, 1}, {1, -1, 1, -1}};
  return e;
}

ControlTetrahedron ControlTetrahedron::around(const Matrix3X& points, const Vector3& centre_of_mass) {
  const double diagonal = (points.rowwise().maxCoeff() - points.rowwise().minCoeff()).norm(),
               reach = (points.colwise() - centre_of_mass).colwise().norm().maxCoeff();
  // A centre of mass far outside would make weights large, and so rounding.
  const double arm = 0.5 * std::max(diagonal, reach) / std::sqrt(3.0);
  return {centre_of_mass, diagonal > 0 ? arm : std::max(arm, arm_of_a_point)};
}

Matrix3X ControlTetrahedron::nodes() const {
  return (arm * directions()).colwise() + centre;
}

LinearMap ControlTetrahedron::map(const Matrix3X& points) const {
  LinearMap result(4);
  for (Index p = 0; p < points.cols(); ++p) {
    const Vector4 w =
        Vector4::Constant(0.25) + directions().transpose() * (points.col(p) - centre) / (4 * arm);
    const Influence row[4] = {{0, w[0]}, {1, w[1]}, {2, w[2]}, {3, w[3]}};
    result.add_vertex(row);
  }
  return result;
}

Eigen::Matrix4d ControlTetrahedron::mass(const MassDistribution& of_body) const {
  return Eigen::Matrix4d::Constant(of_body.mass / 16) +
         directions().transpose() * of_body.second_moment * directions() / (16 * arm * arm);
}

}  // namespace apart
