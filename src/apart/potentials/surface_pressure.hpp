#pragma once
#include <apart/geometry/mesh.hpp>
#include <apart/potentials/potential.hpp>

namespace apart {

/// scale Σ p V over patches of triangles of collision vertices, V the volume of the cone from the patch's
/// apex: its gradient pushes with p against the outer side of every triangle and turns with it. Over a closed
/// patch V is the enclosed volume whatever the apex. At the rim of an open patch the cone has lateral sides
/// that do not exist; their contribution to the gradient is subtracted, as it is at the start of the step. In
/// a plane z = const the same holds for segments, with areas times the depth of the body in place of volumes.
class SurfacePressure final : public Potential {
 public:
  struct Patch {
    Faces faces;                   ///< collision vertices, seen from outside counter-clockwise
    double pressure = 0;           ///< p [Pa]
    Edges segments = Edges(2, 0);  ///< of a planar body, with the inside on the left
    double depth = 1;              ///< [m] of that body
  };
  /// `start`: x at the start of the step [m].
  void set(double scale, std::vector<Patch> patches, const Matrix3X& start);

  std::string_view name() const override { return "pressure"; }
  double value(const Matrix3X& x) const override;
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(terms_.size()); }
  TermPoints term(Index i) const override { return terms_[i].points; }
  void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  struct Term {
    FewPoints points;
    double strength;  ///< scale · p [kg/m]; of segments times depth [kg]
    Vector3 apex;     ///< [m]
  };
  struct Rim {
    Index vertex;
    Vector3 excess;  ///< scale · force of the lateral sides [kg m]
    Vector3 origin;  ///< [m]
  };
  void add_segments(double scale, const Patch& patch, const Matrix3X& start);
  std::vector<Term> terms_;
  std::vector<Rim> rim_;
};

}  // namespace apart
