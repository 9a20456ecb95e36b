#include <apart/core/error.hpp>
#include <apart/potentials/prepared_potential.hpp>

#include <cstring>

namespace apart {

void PreparedPotential::prepare(const Matrix3X& x) {
  if (is_void() || is_at(x)) return;
  known_ = false;  // should the following throw
  prepare_at(x);
  place_ = x;
  known_ = true;
}

bool PreparedPotential::is_at(const Matrix3X& x) const {
  if (is_void()) return true;
  // Bit by bit: what is not a number is at the same place, too.
  return known_ && place_.cols() == x.cols() &&
         (x.size() == 0 || std::memcmp(place_.data(), x.data(), std::size_t(x.size()) * sizeof(double)) == 0);
}

const Matrix3X& PreparedPotential::place() const {
  ensure(known_, "PreparedPotential: prepare it first");
  return place_;
}

void PreparedPotential::expect_at(const Matrix3X& x) const {
  if (!is_at(x)) throw InvariantError(fmt::format("{}: prepared elsewhere than where it is asked", name()));
}

}  // namespace apart
