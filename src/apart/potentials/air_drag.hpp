#pragma once
#include <apart/potentials/potential.hpp>

namespace apart {

/// scale Σ (rate/2 d·D d − w·D d) over patches of collision vertices, d = mean of x − o over the patch: its
/// gradient is scale · D (v − w), the resistance D of the patch against air that moves with w, with the
/// velocity v = rate d of the time step. D, which holds the speed once, is of the start of the step, so the
/// force is that of drag with the square of the speed, the sum is quadratic and convex, and drag never adds
/// energy in the frame of the air.
class AirDrag final : public Potential {
 public:
  struct Patch {
    FewPoints points;                      ///< one to three
    Matrix3 resistance = Matrix3::Zero();  ///< D [kg/s], positive semi-definite
    Vector3 air = Vector3::Zero();         ///< w [m/s]
  };
  /// `scale` [s²], `rate` [1/s] and o [m] (of collision vertices) of the time step.
  void set(double scale, double rate, Matrix3X origin, std::vector<Patch> patches);

  std::string_view name() const override { return "wind"; }
  double value(const Matrix3X& x) const override;
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(patches_.size()); }
  TermPoints term(Index i) const override { return patches_[i].points; }
  void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  Vector3 moved(const Patch& patch, const Matrix3X& x) const;  ///< d [m]
  double scale_ = 1, rate_ = 1;
  Matrix3X origin_;
  std::vector<Patch> patches_;
};

/// Drag of a patch of surface in air of density ρ [kg/m³].
struct DragCoefficients {
  double density = 1.225;
  double normal = 1.2;       ///< C_n, of the part of the speed across the surface
  double tangential = 0.02;  ///< C_t, of the part along it
};
/// D = ρ/2 (C_n A |u_n| n nᵀ + C_t A |u_t| (I − n nᵀ)) of a triangle of area A that moves with u [m/s]
/// through the air; `one_sided`: no resistance across the surface where it moves away from the air on its
/// outer side.
Matrix3 triangle_resistance(const DragCoefficients& c, const std::array<Vector3, 3>& x, const Vector3& u,
                            bool one_sided);
/// The same of a round bar of a width [m], across it and along it.
Matrix3 segment_resistance(const DragCoefficients& c, const Vector3& a, const Vector3& b, double width,
                           const Vector3& u);
/// The same of a ball.
Matrix3 ball_resistance(const DragCoefficients& c, double radius, const Vector3& u);

}  // namespace apart
