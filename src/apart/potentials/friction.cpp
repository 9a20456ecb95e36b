#include <apart/potentials/friction.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>

namespace apart {

namespace {
constexpr double all_sliding = 10;  // multiple of ε_v beyond which friction is kinetic alone
// Share of the greatest force that what slid is expected to hold: with all of it there is no curvature along
// its way. A little less costs nothing, and what could as well rest as creep comes to rest.
constexpr double most_held = 0.99;

/// As much of a force as is not longer than `most`.
Eigen::Vector2d shortened(const Eigen::Vector2d& force, double most) {
  const double size = force.norm();
  return size > most ? Eigen::Vector2d(most / size * force) : force;
}
}  // namespace

ContactKey Friction::key(const Term& t) {
  return {t.points.ids, t.weights[1] > 0};
}

void Friction::set_lag(const BarrierContact& contact, const Matrix3X& x, double dt) {
  terms_.clear();
  solving_ = false;
  const ActiveSet& active = contact.active_set(x);
  const Index pairs = Index(active.contacts.size());
  for (Index i = 0; i < contact.term_count(); ++i) {
    const PairSettings* settings;
    if (i < pairs) {
      const Stencil& s = active.contacts[i].stencil;
      settings = &surface_.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
    } else {
      const PlaneContact& c = active.plane_contacts[i - pairs];
      settings = &surface_.pairs(surface_.vertex_body[c.vertex], surface_.half_spaces[c.plane].body);
    }
    const double mu = settings->friction;
    if (mu <= 0) continue;
    const BarrierContact::NormalForce force = contact.normal_force(i, x);
    int axis;
    force.direction.cwiseAbs().minCoeff(&axis);
    const Vector3 t = force.direction.cross(Vector3::Unit(axis)).normalized();
    Term term{force.points,
              contact.bodies_of(i),
              force.weights,
              {},
              {0, 0},
              mu * force.magnitude,
              settings->kinetic_friction.value_or(mu) * force.magnitude,
              settings->epsv * dt};
    term.basis << t, force.direction.cross(t);
    if (!grips_.empty())
      term.strained = term.epsilon * (term.basis.transpose() * grips_.strain(key(term), term.bodies));
    term.begun = slip(term, x);
    terms_.push_back(term);
  }
}

Friction::Change Friction::largest_change(const Friction& other) const {
  // With how much of its force each contact is now, and was.
  std::map<ContactKey, std::pair<double, std::pair<int, int>>> change;
  double largest = 0;
  const auto add = [&](const Friction& friction, double sign) {
    for (const Term& t : friction.terms_) {
      auto& [sum, bodies] = change[key(t)];
      sum += sign * t.sticking;
      bodies = t.bodies;
      largest = std::max(largest, std::abs(t.sticking));
    }
  };
  add(*this, 1);
  add(other, -1);
  Change result;
  for (const auto& [id, entry] : change)
    if (std::abs(entry.first) > result.share * largest)
      result = {entry.second, std::abs(entry.first) / largest};
  return result;
}

void Friction::mix(const Friction& other, double share) {
  // Shortened contacts are not merged: the same points may occur several times, then in the same order.
  std::multimap<ContactKey, const Term*> before;
  double largest = 0;
  for (const Term& t : other.terms_) {
    before.emplace(key(t), &t);
    largest = std::max(largest, std::abs(t.sticking));
  }
  for (Term& t : terms_) {
    t.sticking *= share;
    t.sliding *= share;
    const auto found = before.lower_bound(key(t));
    if (found == before.end() || found->first != key(t)) continue;
    t.sticking += (1 - share) * found->second->sticking;
    t.sliding += (1 - share) * found->second->sliding;
    before.erase(found);
  }
  for (const auto& [id, t] : before) {  // contacts that are out of reach now fade
    if (std::abs(t->sticking) < 1e-9 * largest) continue;
    terms_.push_back(*t);
    terms_.back().sticking *= 1 - share;
    terms_.back().sliding *= 1 - share;
  }
}

Eigen::Vector2d Friction::slip(const Term& term, const Matrix3X& x) const {
  Vector3 u = Vector3::Zero();
  for (int k = 0; k < term.points.size; ++k) {
    const Index v = term.points.ids[k];
    u += term.weights[k] * (x.col(v) - start_.col(v));
  }
  return term.strained + term.basis.transpose() * u;
}

std::vector<Grip> Friction::grips(const Matrix3X& x) const {
  std::vector<Grip> result;
  result.reserve(terms_.size());
  for (const Term& term : terms_) {
    const Eigen::Vector2d strain = slip(term, x) / term.epsilon;
    const double length = strain.norm();
    result.push_back(
        {key(term), term.bodies, term.basis * strain / std::max(length, 1.0), std::abs(term.sticking)});
  }
  return result;
}

Friction::Curve Friction::curve(const Term& term, double y) {
  const double e = term.epsilon;
  if (y <= e)  // f₀ = −y³/3ε² + y²/ε + ε/3 [thesis A.9]; never divides by y
    return {term.sticking * (y * y / e * (1 - y / (3 * e)) + e / 3), term.sticking * (2 - y / e) / e,
            term.sticking * 2 * (1 - y / e) / e};
  // What slides is strained by ε: y − ε is its way in this step. Friction falls by 3t² − 2t³ while that goes
  // from ε to ten times ε.
  const double width = (all_sliding - 1) * e, drop = term.sticking - term.sliding;
  const double t = std::clamp((y - 2 * e) / width, 0.0, 1.0);
  const double fallen = drop * t * t * (3 - 2 * t);
  const double lost = drop * (width * t * t * t * (1 - t / 2) + std::max(0.0, y - 2 * e - width));
  return {term.sticking * y - lost, (term.sticking - fallen) / y, -drop * 6 * t * (1 - t) / width};
}

double Friction::value_of(const Matrix3X& x, Index begin, Index end) const {
  return ordered_sum(end - begin, [&](Index k) {
    const Term& term = terms_[begin + k];
    return curve(term, slip(term, x).norm()).value;
  });
}

Vector3 Friction::force(Index i, const Matrix3X& x) const {
  const Eigen::Vector2d u = slip(terms_[i], x);
  return -curve(terms_[i], u.norm()).first_over_y * (terms_[i].basis * u);
}

void Friction::add_gradient_of(const Matrix3X& x, Index begin, Index end, Matrix3X& gradient) const {
  add_local_gradients(*this, {begin, end}, gradient, [&](Index i, auto g) {
    const Term& term = terms_[i];
    const Vector3 on_first = force(i, x);
    for (int k = 0; k < term.points.size; ++k) g.template segment<3>(3 * k) = -term.weights[k] * on_first;
  });
}

void Friction::begin_solve() {
  solving_ = true;
  // What contacts held in the step before, or at the end of the last solve, they will hold again.
  for (Term& term : terms_)
    term.expected =
        shortened(curve(term, term.begun.norm()).first_over_y * term.begun, most_held * term.sticking);
}

void Friction::follow(const Matrix3X& x, const Matrix3X& move) {
  for (Term& term : terms_) {
    if (!term.has_expected()) continue;
    Vector3 way = Vector3::Zero();
    for (int k = 0; k < term.points.size; ++k) way += term.weights[k] * move.col(term.points.ids[k]);
    const Eigen::Vector2d u = slip(term, x), moved = term.basis.transpose() * way;
    const double y = u.norm();
    const Curve c = curve(term, y);
    if (!(c.first_over_y > 0)) {  // slides without any friction
      term.expected.setZero();
      continue;
    }
    // (y/F′) τ = s + u to first order in both.
    Eigen::Vector2d next = c.first_over_y * (u + moved);
    if (y > 0) {
      const Eigen::Vector2d t = shortened(term.expected, c.first_over_y * y);
      next -= (1 - c.second / c.first_over_y) * u.dot(moved) / (y * y) * t;
    }
    term.expected = shortened(next, term.sticking);
  }
}

double Friction::mismatch(const Matrix3X& x) const {
  if (!solving_) return 0;
  double farthest = 0, largest = 0;
  for (const Term& term : terms_) {
    if (!term.has_expected()) continue;
    const Eigen::Vector2d u = slip(term, x);
    farthest = std::max(farthest, (term.expected - curve(term, u.norm()).first_over_y * u).norm());
    largest = std::max(largest, term.sticking);
  }
  return largest > 0 ? farthest / largest : 0;
}

Eigen::Matrix2d Friction::curvature(const Term& term, const Eigen::Vector2d& u, Projection projection) const {
  const double y = u.norm();
  const Curve c = curve(term, y);
  if (y == 0)
    return (projection == Projection::psd ? std::max(c.second, 0.0) : c.second) * Eigen::Matrix2d::Identity();
  const Eigen::Vector2d along = u / y;
  if (solving_ && term.has_expected() && c.first_over_y > 0) {
    const Eigen::Vector2d t = shortened(term.expected, c.first_over_y * y) / (c.first_over_y * y);
    // More than one where friction falls.
    const double share =
        std::min(1 - c.second / c.first_over_y, projection == Projection::psd ? 1 : infinity);
    return c.first_over_y *
           (Eigen::Matrix2d::Identity() - 0.5 * share * (t * along.transpose() + along * t.transpose()));
  }
  // F″ ûûᵀ + F′/y ūūᵀ with ū ⟂ û [C-IPC supplement eq. 12]. F″ is negative where friction falls, both are
  // where the normal force is.
  const double least = projection == Projection::psd ? 0 : -infinity;
  const Eigen::Vector2d across(-along[1], along[0]);
  return std::max(c.second, least) * along * along.transpose() +
         std::max(c.first_over_y, least) * across * across.transpose();
}

void Friction::hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                        LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Term& term = terms_[i];
    auto h = out[i];
    const Matrix3 block = term.basis * curvature(term, slip(term, x), projection) * term.basis.transpose();
    for (int a = 0; a < term.points.size; ++a)
      for (int b = 0; b < term.points.size; ++b)
        h.block<3, 3>(3 * a, 3 * b) = term.weights[a] * term.weights[b] * block;
  }
}

}  // namespace apart
