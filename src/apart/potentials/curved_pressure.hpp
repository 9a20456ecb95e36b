#pragma once
#include <apart/bodies/acting_parts.hpp>
#include <apart/potentials/potential.hpp>

namespace apart {

/// The pressure of surface_pressure on faces of curved cells, x(s, t) = Σ q_a N_a + x₀: scale Σ p V over
/// patches of them, V = ⅓ ∫ (x − apex)·(x_s × x_t) the volume of the cone from the patch's apex, integrated
/// exactly. Pressure proper pushes node a with −p ∫ N_a x_s × x_t; what the lateral sides of the cone of an
/// open patch add to that is subtracted, as it is at the start of the step.
class CurvedPressure final : public Potential {
 public:
  struct Patch {
    const std::vector<CurvedFace>* faces;  ///< must live on
    Index first_node = 0;                  ///< of their body
    double pressure = 0;                   ///< p [Pa]
  };
  /// `start`: nodes at the start of the step [m].
  void set(double scale, const std::vector<Patch>& patches, const Matrix3X& start);

  std::string_view name() const override { return "pressure"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(terms_.size()); }
  TermPoints term(Index i) const override { return terms_[std::size_t(i)].nodes; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  struct Term {
    const CurvedFace* face;
    std::vector<Index> nodes;
    double strength;  ///< scale · p [kg/m]
    Vector3 apex;     ///< [m]
  };
  /// x − apex and its derivatives at a point of a face.
  struct Place {
    Vector3 y, s, t;
  };
  static Place place(const Term& term, const CurvedFace::Point& point, const Matrix3X& q);

  std::vector<Term> terms_;
  struct Rim {
    Index node;
    Vector3 excess;  ///< scale · force of the lateral sides [kg m]
    Vector3 origin;  ///< [m]
  };
  std::vector<Rim> rim_;
};

}  // namespace apart
