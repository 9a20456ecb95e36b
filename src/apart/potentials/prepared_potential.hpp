#pragma once
#include <apart/potentials/potential.hpp>

namespace apart {

/// A potential that computes something from x as a whole before it is asked for values and derivatives: the
/// deformation of every element, the contacts in reach. It keeps that, and x with it. Whatever is asked of it
/// then must be asked at this x: values and gradients check it, Objective checks it for Hessians, and what
/// takes no x is said to be at place().
class PreparedPotential : public Potential {
 public:
  /// Does nothing if x is place() already.
  void prepare(const Matrix3X& x) final;
  bool is_at(const Matrix3X& x) const final;
  /// The x last prepared; there must have been one.
  const Matrix3X& place() const;

 protected:
  virtual void prepare_at(const Matrix3X& x) = 0;
  /// What was prepared has become void, because the terms have changed.
  void forget() { known_ = false; }
  /// Throws InvariantError unless the potential is prepared at x.
  void expect_at(const Matrix3X& x) const;

 private:
  /// Potentials without terms need not be prepared.
  bool is_void() const { return !terms_vary() && term_count() == 0; }
  bool known_ = false;  ///< what was prepared at place_
  Matrix3X place_;
};

}  // namespace apart
