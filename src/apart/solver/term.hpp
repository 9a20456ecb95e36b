#pragma once
#include <apart/potentials/potential.hpp>

#include <initializer_list>

namespace apart {

/// What a term of the incremental potential represents.
enum class Role { inertia, elastic, damping, load, attachment, joint, contact, friction, target };

/// A set of roles.
class Roles {
 public:
  constexpr Roles(std::initializer_list<Role> roles) {
    for (const Role r : roles) bits_ |= 1u << unsigned(r);
  }
  static constexpr Roles all() { return ~Roles({}); }
  constexpr Roles operator~() const {
    Roles result({});
    result.bits_ = ~bits_;
    return result;
  }
  constexpr bool contains(Role r) const { return bits_ >> unsigned(r) & 1u; }

 private:
  unsigned bits_ = 0;
};

/// What the points of a potential are.
enum class PointKind { nodes, vertices };

/// One summand of an objective.
struct Term {
  Potential* potential = nullptr;
  Role role = Role::elastic;
  PointKind points = PointKind::nodes;
  /// The potential has those local terms only that are this process's; the energy is the sum over its team.
  /// Others have all local terms, and the same value, on every process.
  bool is_divided = false;
};

}  // namespace apart
