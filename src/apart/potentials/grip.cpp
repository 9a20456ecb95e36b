#include <apart/potentials/grip.hpp>

#include <cmath>

namespace apart {

namespace {

/// Calls f(vertex, other body, sign) for the vertices of a contact; the sign is −1 for those of its second
/// primitive.
template <class F>
void for_each_side(const ContactKey& contact, const std::pair<int, int>& bodies, const F& f) {
  const int first = contact.second ? 2 : 1;
  for (int k = 0; k < 4; ++k) {
    const Index vertex = contact.first[std::size_t(k)];
    if (vertex < 0) break;
    if (k < first)
      f(vertex, bodies.second, 1.0);
    else
      f(vertex, bodies.first, -1.0);
  }
}

}  // namespace

Grips::Grips(const VectorX& packed) {
  for (Index at = 0; at + numbers_each <= Index(packed.size()); at += numbers_each) {
    const auto numbers = packed.segment<numbers_each>(at);
    ContactKey contact;
    for (int k = 0; k < 4; ++k) contact.first[std::size_t(k)] = Index(numbers[k]);
    contact.second = numbers[4] != 0;
    const std::pair<int, int> bodies{int(numbers[5]), int(numbers[6])};
    const Vector3 strain = numbers.segment<3>(7);
    const double force = std::abs(numbers[10]);
    of_contact_.emplace(contact, strain);
    for_each_side(contact, bodies, [&](Index vertex, int other, double sign) {
      auto [found, is_new] = of_vertex_.try_emplace({vertex, other}, Vector3::Zero(), 0.0);
      found->second.first += sign * force * strain;
      found->second.second += force;
    });
  }
}

VectorX Grips::pack(const std::vector<Grip>& grips) {
  VectorX packed(numbers_each * Index(grips.size()));
  for (std::size_t i = 0; i < grips.size(); ++i) {
    const Grip& g = grips[i];
    auto numbers = packed.segment<numbers_each>(numbers_each * Index(i));
    for (int k = 0; k < 4; ++k) numbers[k] = double(g.contact.first[std::size_t(k)]);
    numbers[4] = g.contact.second;
    numbers[5] = g.bodies.first;
    numbers[6] = g.bodies.second;
    numbers.segment<3>(7) = g.strain;
    numbers[10] = g.force;
  }
  return packed;
}

bool Grips::are_valid(const VectorX& packed, Index vertex_count, int body_count) {
  if (packed.size() % numbers_each != 0) return false;
  const auto is_whole = [](double x, double least, double end) {
    return x >= least && x < end && x == std::floor(x);
  };
  for (Index at = 0; at < Index(packed.size()); at += numbers_each) {
    for (Index k = 0; k < 4; ++k)
      if (!is_whole(packed[at + k], -1, double(vertex_count))) return false;
    for (Index k = 5; k < 7; ++k)
      if (!is_whole(packed[at + k], 0, body_count)) return false;
  }
  return true;
}

Vector3 Grips::strain(const ContactKey& contact, const std::pair<int, int>& bodies) const {
  if (const auto found = of_contact_.find(contact); found != of_contact_.end()) return found->second;
  Vector3 sum = Vector3::Zero();
  double force = 0;
  for_each_side(contact, bodies, [&](Index vertex, int other, double sign) {
    const auto found = of_vertex_.find({vertex, other});
    if (found == of_vertex_.end()) return;
    sum += sign * found->second.first;
    force += found->second.second;
  });
  return force > 0 ? Vector3(sum / force) : Vector3::Zero();
}

}  // namespace apart
