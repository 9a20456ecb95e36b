#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/scene/joint_description.hpp>
#include <apart/scene/script_builder.hpp>
#include <apart/simulation/joint.hpp>

namespace apart {

/// What joints are made from: the bodies, which get the sets of points that joints refer to.
struct JointScene {
  std::vector<Body>& bodies;
  FunctionRef<const std::vector<int>&(const std::string&)> named;  ///< which bodies a name stands for
  Clock clock;
  double scene_size = 1;  ///< L [m]
};

/// The bodies that a joint is of: one or two. Throws InputError if a name stands for several.
std::vector<int> jointed_bodies(const JointBase& d,
                                FunctionRef<const std::vector<int>&(const std::string&)> named);

/// Throws InputError if the joint makes no sense, or does not start closed.
Joint make_joint(const JointDescription& description, const JointScene& scene);

}  // namespace apart
