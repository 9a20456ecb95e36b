#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace apart {

/// Tells contacts apart by their vertices, −1 where there are fewer than four. Four may be a point and a
/// triangle as well as two edges: the flag tells whether the second vertex belongs to the first primitive.
using ContactKey = std::pair<std::array<Index, 4>, bool>;

/// What a contact that sticks remembers from step to step: how far it is strained, as bristles between the
/// two surfaces would be, so that it holds a force without sliding.
struct Grip {
  ContactKey contact;
  std::pair<int, int> bodies;        ///< of the two primitives
  Vector3 strain = Vector3::Zero();  ///< tangential displacement of the first against the second, in units of
                                     ///< the one at which the contact slides: at most 1 long
  double force = 0;                  ///< normal, times the step's scale [kg m]
};

/// Where the vertices and bodies of one model are in another.
struct VertexRenumbering {
  std::unordered_map<Index, Index> vertex;  ///< by number before; missing: it is gone
  std::unordered_map<int, int> body;        ///< likewise
  std::unordered_map<Index, Index> merged;  ///< of vertices that are gone: the one they were moved onto
  struct Middle {
    Index vertex;
    int body;
    std::array<Index, 2> ends;
  };
  std::vector<Middle> middles;  ///< new vertices, all numbers those of afterwards
  /// The vertex, or the one it was moved onto; −1: there is neither.
  Index now(Index before) const;
};

/// The grips at the start of a step, by contact.
class Grips {
 public:
  Grips() = default;
  /// From the numbers of `pack`.
  explicit Grips(const VectorX& packed);
  /// The numbers of grips, `numbers_each` for each, the vertices first; −1 where there are fewer.
  static VectorX pack(const std::vector<Grip>& grips);
  static constexpr Index numbers_each = 11;
  /// Packed grips for another model. What is left as it was keeps its strain. A contact one of whose vertices
  /// was moved onto another goes with it, and may lose a vertex; a new vertex is strained against each body
  /// as the ends of its edge are, weighted by force.
  static VectorX carried(const VectorX& packed, const VertexRenumbering& to);
  /// Whether numbers are those of grips between `vertex_count` vertices of `body_count` bodies.
  static bool are_valid(const VectorX& packed, Index vertex_count, int body_count);

  /// The strain of a contact. One that is new continues those of its vertices with the same body: the mean of
  /// them, weighted by force; zero if there are none.
  Vector3 strain(const ContactKey& contact, const std::pair<int, int>& bodies) const;
  bool empty() const { return of_contact_.empty(); }

 private:
  std::map<ContactKey, Vector3> of_contact_;
  /// Of a vertex against a body: sums of force times strain of the vertex' side, and of force.
  std::map<std::pair<Index, int>, std::pair<Vector3, double>> of_vertex_;
};

}  // namespace apart
