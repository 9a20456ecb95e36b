#include <apart/potentials/script_target.hpp>

#include <cmath>

namespace apart {

void ScriptTarget::update_multipliers(const Matrix3X& q) {
  for (Target& t : targets) t.multiplier -= stiffness * std::sqrt(t.mass) * error(t, q);
}

double ScriptTarget::squared_error(const Matrix3X& q) const {
  return ordered_sum(term_count(), [&](Index i) { return error(targets[i], q).squaredNorm(); });
}

double ScriptTarget::value(const Matrix3X& q) const {
  return ordered_sum(term_count(), [&](Index i) {
    const Target& t = targets[i];
    const Vector3 e = error(t, q);
    return -std::sqrt(t.mass) * t.multiplier.dot(e) + 0.5 * stiffness * t.mass * e.squaredNorm();
  });
}

void ScriptTarget::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  for (const Target& t : targets)
    gradient.col(t.node) +=
        t.mask.cwiseProduct(-std::sqrt(t.mass) * t.multiplier + stiffness * t.mass * error(t, q));
}

void ScriptTarget::hessians(const Matrix3X&, Index begin, Index end, Projection, LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Target& t = targets[std::size_t(i)];
    out.of<1>(i) = (stiffness * t.mass * t.mask).asDiagonal();
  }
}

}  // namespace apart
