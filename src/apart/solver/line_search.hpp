#pragma once
#include <apart/solver/objective.hpp>

namespace apart {

/// The search for a lower value of E along a Newton direction p from a feasible iterate q. Its parts are
/// called in this order, and leave the objective prepared where they end.
class LineSearch {
 public:
  /// A direction: p, the same on the free coordinates, and what E does at q: its value and its slope g·p < 0.
  struct Line {
    const Matrix3X& p;
    const VectorX& free_p;
    Objective::Energy energy;
    double slope;
  };
  /// `objective` is prepared at q. Keeps references.
  LineSearch(Objective& objective, const Matrix3X& q, const Line& line);

  /// Halves the step from `alpha` on until E is lower. False: there is no such step.
  bool descend(double alpha);
  /// If the step was halved and ends uphill: towards the minimum along p. Halving stops at the first lower
  /// point, often far up the other side of a kink: where friction changes its direction, or a contact begins.
  /// Steps that go from one side to the other and back, each a little lower, take hundreds of iterations;
  /// from the bottom of the kink the next one goes along it.
  void draw_back();
  /// If a full step lowered E by nearly all of its slope: longer steps. One that lowers it by half its slope
  /// ends at the minimum along p; otherwise that is far, as the projection made the Hessian stiff where E has
  /// little or negative curvature (buckling). `bound` becomes that of the longer path.
  void lengthen(StepBound& bound);

  double alpha() const { return best_.alpha; }
  const Objective::Energy& energy() const { return best_.energy; }
  const Matrix3X& end() const { return best_.q; }

 private:
  struct Trial {
    double alpha = 0;
    Objective::Energy energy = {};
    Matrix3X q = {};
  };
  Trial tried(double alpha);
  double slope_here() const;

  Objective& objective_;
  const Matrix3X& start_;
  Line line_;
  double noise_;        ///< rounding error of E
  double longest_ = 0;  ///< that descend began with
  Trial best_;
};

}  // namespace apart
