#pragma once
#include <apart/simulation/model.hpp>
#include <apart/simulation/state.hpp>

namespace apart {

/// The scripted nodes of a model, and where they should be at any time.
class ScriptedNodes {
 public:
  using Mask = Eigen::Array<bool, 3, Eigen::Dynamic>;
  explicit ScriptedNodes(const Model& model);

  /// mask(axis, node): true where the coordinate is scripted in the step that ends at `time` [s], and for z
  /// of planar bodies.
  Mask mask(double time) const;
  /// True for z of planar bodies, which is never moved.
  const Mask& planes() const { return planes_; }
  /// q with every coordinate that is scripted in the step ending at `time` set to its value then.
  Matrix3X apply(Matrix3X q, const Matrix3X& anchors, double time) const;
  Index anchor_count() const { return anchor_count_; }  ///< columns of State::anchors after the first step
  /// State::anchors for the step from state.time to `time`: scripts that begin with it take hold of the nodes
  /// where they are.
  Matrix3X anchors(const State& state, double time) const;

  /// How many equal pieces of the next `length` [s] a motion must be cut into for each to be straight: to
  /// deviate from the chord by less than a 2000th of the body's size, about five degrees of rotation. Throws
  /// SolverError if one turns so fast that a thousand pieces would not do.
  struct Curves {
    std::vector<int> of_body;
    int most = 1;           ///< of all
    int most_attached = 1;  ///< of those that move a part of a body, which the rest must follow
  };
  Curves curves(const State& state, double length) const;

 private:
  /// Of one part of the model.
  struct Place {
    std::size_t body;
    const Script* script;
    const ScriptedPart* part;
    Index first_anchor;  ///< column in State::anchors; −1: begins at the start
  };
  bool acts(const Place& place, double time) const;  ///< in the step that ends at `time` [s]
  Matrix3X targets(const Place& place, const Matrix3X& anchors, double time) const;
  const Model& model_;
  Mask planes_;
  std::vector<Place> places_;
  Index anchor_count_ = 0;
};

}  // namespace apart
