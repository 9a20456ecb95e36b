// By itself: tests of layers that do not link the proofs use the rest of small_scene.
#include <apart/verify/frame_check.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

namespace apart::test {

void expect_intersection_free(const Simulation& simulation) {
  const Frame frame = simulation.frame();
  const verify::FrameCheck check(frame);
  const Matrix3X& x = frame.mesh.points;
  for (const auto& findings : {check.not_finite(x), check.intersections(x), check.inversions(x),
                               check.strains(x), check.below_half_spaces(x), check.thin(x)})
    for (const verify::Finding& f : findings)
      ADD_FAILURE() << "step " << simulation.state().step << ": " << f.text;
}

}  // namespace apart::test
