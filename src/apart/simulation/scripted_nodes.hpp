#pragma once
#include <apart/simulation/model.hpp>

namespace apart {

/// The nodes a scene prescribes, and where they should be.
class ScriptedNodes {
 public:
  explicit ScriptedNodes(const Model& model);
  /// mask(axis, node): true where the coordinate is prescribed.
  const Eigen::Array<bool, 3, Eigen::Dynamic>& mask() const { return mask_; }
  /// q with every prescribed coordinate set to its value at `time` [s].
  Matrix3X apply(Matrix3X q, double time) const;

 private:
  const Model& model_;
  Eigen::Array<bool, 3, Eigen::Dynamic> mask_;
};

}  // namespace apart
