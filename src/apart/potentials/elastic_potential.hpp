#pragma once
#include <apart/potentials/prepared_potential.hpp>

#include <string>

namespace apart {

/// Of the stretches σ of some elements; neither is negative.
struct Strains {
  double stretch = 0;      ///< largest σ − 1
  double compression = 0;  ///< largest 1 − σ
  double largest() const { return stretch > compression ? stretch : compression; }
  Strains& include(const Strains& other);
};

/// The element of a potential that is nearest to where its material gives way.
struct WorstElement {
  std::string_view what;  ///< "Most compressed element": measures of what is called the same are compared
  Index element;          ///< a term
  double measure;         ///< the larger the worse
  std::string state;      ///< how it is deformed, for the user
  Index node = -1;        ///< that says where it is; −1: its number does
};

/// Elasticity of elements, which are its terms: cells, triangles, hinges, segments of rods. Everything that
/// looks at how bodies are deformed, be it for a report, a diagnosis or a picture, looks at all such
/// potentials alike, through what each of them must answer here.
class ElasticPotential : public PreparedPotential {
 public:
  /// Of the incremental potential: energy times dt².
  void set_scale(double scale) { scale_ = scale; }
  double scale() const { return scale_; }

  // All of the following at the q at which it is prepared.

  /// Over all elements that are stretched or compressed.
  virtual Strains largest_strains(const Matrix3X& q) const = 0;
  /// V/V₀ at quadrature points; at most 1.
  virtual double smallest_volume_ratio(const Matrix3X&) const { return 1; }
  /// One of each kind of elements that can give way, if there are any.
  virtual std::vector<WorstElement> worst_elements(const Matrix3X& q) const = 0;
  /// Of an element, where they are largest.
  struct Deformed {
    double von_mises = 0;  ///< stress [Pa]
    double strain = 0;     ///< |σ − 1|
  };
  /// Whether elements are cells or triangles, which have both.
  virtual bool has_stress() const = 0;
  virtual Deformed deformed(Index) const { return {}; }

  /// Sums the energy at more points, or fewer, if that is wanted at q: see LagrangeElasticity::refine.
  virtual void refine(const Matrix3X&) {}
  virtual bool refine_further(const Matrix3X&) { return false; }

 private:
  double scale_ = 1;
};

/// Von Mises' measure of a Cauchy stress.
double von_mises(const Matrix3& stress);

}  // namespace apart
