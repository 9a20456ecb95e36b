#include <apart/potentials/grip.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace apart {

Index VertexRenumbering::now(Index before) const {
  for (const auto* list : {&vertex, &merged})
    if (const auto found = list->find(before); found != list->end()) return found->second;
  return -1;
}

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

std::vector<Grip> unpacked(const VectorX& packed) {
  std::vector<Grip> grips;
  for (Index at = 0; at + Grips::numbers_each <= Index(packed.size()); at += Grips::numbers_each) {
    const auto numbers = packed.segment<Grips::numbers_each>(at);
    Grip& g = grips.emplace_back();
    for (int k = 0; k < 4; ++k) g.contact.first[std::size_t(k)] = Index(numbers[k]);
    g.contact.second = numbers[4] != 0;
    g.bodies = {int(numbers[5]), int(numbers[6])};
    g.strain = numbers.segment<3>(7);
    g.force = std::abs(numbers[10]);
  }
  return grips;
}

/// Of a vertex against a body: sums of force times strain of the vertex' side, and of force.
using VertexGrips = std::map<std::pair<Index, int>, std::pair<Vector3, double>>;

void add_to_vertices(const Grip& g, VertexGrips& sums) {
  for_each_side(g.contact, g.bodies, [&](Index vertex, int other, double sign) {
    auto [found, is_new] = sums.try_emplace({vertex, other}, Vector3::Zero(), 0.0);
    found->second.first += sign * g.force * g.strain;
    found->second.second += g.force;
  });
}

/// What remains of a contact whose vertices were moved; none if one of them is gone.
std::optional<ContactKey> carried_key(const ContactKey& contact, const VertexRenumbering& to) {
  std::array<std::vector<Index>, 2> sides;
  for (int k = 0; k < 4 && contact.first[std::size_t(k)] >= 0; ++k) {
    const Index after = to.now(contact.first[std::size_t(k)]);
    if (after < 0) return std::nullopt;
    std::vector<Index>& side = sides[k < (contact.second ? 2 : 1) ? 0 : 1];
    if (std::ranges::find(side, after) == side.end()) side.push_back(after);
  }
  ContactKey result{{-1, -1, -1, -1}, sides[0].size() == 2};
  std::ranges::copy(sides[1], std::ranges::copy(sides[0], result.first.begin()).out);
  return result;
}

/// The strain of a new vertex against each body.
void add_middle(const VertexRenumbering::Middle& middle, const VertexGrips& sums, std::vector<Grip>& grips) {
  VertexGrips both;
  for (const Index end : middle.ends)
    for (auto at = sums.lower_bound({end, 0}); at != sums.end() && at->first.first == end; ++at) {
      auto [found, is_new] = both.try_emplace({middle.vertex, at->first.second}, Vector3::Zero(), 0.0);
      found->second.first += at->second.first;
      found->second.second += at->second.second;
    }
  for (const auto& [key, sum] : both)
    if (sum.second > 0)
      grips.push_back({{{middle.vertex, -1, -1, -1}, false},
                       {middle.body, key.second},
                       sum.first / sum.second,
                       0.5 * sum.second});
}

}  // namespace

Grips::Grips(const VectorX& packed) {
  for (const Grip& g : unpacked(packed)) {
    of_contact_.emplace(g.contact, g.strain);
    add_to_vertices(g, of_vertex_);
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

VectorX Grips::carried(const VectorX& packed, const VertexRenumbering& to) {
  // Of contacts with the same vertices the first counts: what has kept its own comes first.
  std::vector<Grip> kept, moved;
  VertexGrips sums;
  for (Grip& g : unpacked(packed)) {
    const std::optional<ContactKey> contact = carried_key(g.contact, to);
    const auto is_merged = [&](Index vertex) { return to.merged.contains(vertex); };
    std::vector<Grip>& list = std::ranges::any_of(g.contact.first, is_merged) ? moved : kept;
    const auto first = to.body.find(g.bodies.first), second = to.body.find(g.bodies.second);
    if (!contact || first == to.body.end() || second == to.body.end()) continue;
    g.bodies = {first->second, second->second};
    g.contact = *contact;
    add_to_vertices(g, sums);
    list.push_back(g);
  }
  for (const VertexRenumbering::Middle& middle : to.middles) add_middle(middle, sums, moved);
  kept.insert(kept.end(), moved.begin(), moved.end());
  return pack(kept);
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
