#pragma once
// Contact settings of pairs of bodies, from rules that hold for many pairs.
#include <apart/collision/collision_surface.hpp>
#include <apart/core/function_ref.hpp>

#include <optional>
#include <vector>

namespace apart {

/// Coefficients of friction.
struct FrictionCoefficients {
  double sticking = 0, sliding = 0;
};

/// For which pairs it holds, and what it changes there.
struct PairRule {
  std::vector<int> first, second;
  bool enabled = true;
  std::optional<FrictionCoefficients> friction;
  std::optional<double> dhat, thickness;

  void apply(PairSettings& settings) const {
    settings.enabled = enabled;
    if (friction) {
      settings.friction = friction->sticking;
      settings.kinetic_friction = friction->sliding;
    }
    if (dhat) settings.dhat = *dhat;
    if (thickness) settings.thickness = *thickness;
  }
  double pair_count() const { return double(first.size()) * double(second.size()); }
};

/// A table of pairs with rules applied in their order. `base_class`: bodies of the same class, counted from
/// 0, have the same settings before the rules; `base`: the settings of two bodies then. Work and memory
/// follow the number of classes of bodies that the rules make, not the number of pairs.
PairTable make_pair_table(std::vector<int> base_class, const std::vector<PairRule>& rules,
                          FunctionRef<PairSettings(int, int)> base);

}  // namespace apart
