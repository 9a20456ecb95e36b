// The C++ blocks of the documentation, as they are: CMakeLists.txt takes them out of the pages.
#include <apart/collision/broad_phase.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>

#include <cstdio>

#include "architecture-includes.inc"

namespace {

/// A triangle above another, which it would fall through.
void collision() {
  using namespace apart;
  Matrix3X x(3, 6), p = Matrix3X::Zero(3, 6);
  x.leftCols(3) << 0, 1, 0, 0, 0, 1, 0, 0, 0;
  x.rightCols(3) << 0.1, 0.9, 0.2, 0.1, 0.2, 0.7, 0.5, 0.5, 0.5;
  p.rightCols(3).row(2).array() -= 1;
  Faces faces(3, 2);
  faces << 0, 3, 1, 4, 2, 5;
  const Edges segments(2, 0);
  const std::vector<int> body_of_vertex(6, 0);
#include "collision.inc"
  std::printf("%zu pairs near, %zu swept, a step of %.2f\n", near.size(), swept.size(), alpha);
}

void scene() {
#include "architecture.inc"
  std::printf("%d steps of %s\n", int(simulation.state().step), ball.name.c_str());
}

}  // namespace

int main() {
  collision();
  scene();
}
