#include <apart/potentials/elastic_potential.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

Strains& Strains::include(const Strains& other) {
  stretch = std::max(stretch, other.stretch);
  compression = std::max(compression, other.compression);
  return *this;
}

double von_mises(const Matrix3& stress) {
  const Matrix3 deviator = stress - stress.trace() / 3 * Matrix3::Identity();
  return std::sqrt(1.5) * deviator.norm();
}

}  // namespace apart
