#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/types.hpp>
#include <apart/geometry/path.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace apart {

/// The points one local term depends on, as the potential keeps them: any number.
using TermPoints = std::span<const Index>;

/// At most four points by value, for potentials that store no other list of them.
struct FewPoints {
  std::array<Index, 4> ids = {-1, -1, -1, -1};
  int size = 0;
  operator TermPoints() const { return {ids.data(), std::size_t(size)}; }
};

/// What is asked of second derivatives: that they are exact, or that each term is made positive
/// semi-definite.
enum class Projection { none, psd };

class Potential;

/// Second derivatives of consecutive terms of a potential: a 3n × 3n matrix for a term of n points, all in
/// one reused buffer, so that no term allocates.
class LocalHessians {
 public:
  /// Makes room for the terms [begin, end).
  void reset(const Potential& potential, Index begin, Index end);
  Index begin() const { return begin_; }
  Index end() const { return begin_ + Index(start_.size()) - 1; }
  /// Of term i.
  Eigen::Map<Eigen::MatrixXd> operator[](Index i) { return {data(i), 3 * points(i), 3 * points(i)}; }
  Eigen::Map<const Eigen::MatrixXd> operator[](Index i) const {
    return {values_.data() + start_[std::size_t(i - begin_)], 3 * points(i), 3 * points(i)};
  }
  /// Of term i, which has `Points` points.
  template <int Points>
  Eigen::Map<Eigen::Matrix<double, 3 * Points, 3 * Points>> of(Index i) {
    return Eigen::Map<Eigen::Matrix<double, 3 * Points, 3 * Points>>(data(i));
  }

 private:
  double* data(Index i) { return values_.data() + start_[std::size_t(i - begin_)]; }
  Index points(Index i) const { return points_[std::size_t(i - begin_)]; }
  Index begin_ = 0;
  std::vector<Index> points_;             ///< of each term: how many
  std::vector<std::size_t> start_ = {0};  ///< of each term, in values_
  AlignedBuffer values_;
};

/// An energy that is a sum of local terms, each of a few of the points x (3 × n):
///
///   E(x) = Σᵢ eᵢ(x_a, x_b, …).
///
/// A local term is an element, a contact or a spring; its points are nodes or collision vertices, and the
/// owner knows which. Because terms are local the Hessian is sparse: term i contributes a block for each pair
/// of its points. With Projection::psd each local Hessian is made positive semi-definite, so that their sum
/// is too and a Newton step points downhill.
///
/// A term has a kink where its slope changes within a distance that is short against a step, as friction does
/// where what slides comes to rest. Newton's model sees it on neither side and steps over it. Such potentials
/// have a better model during a solve, which learns from the steps (begin_solve, follow).
///
/// Values are those of the incremental potential, energy times the step's scale (dt² for implicit Euler)
/// [kg m²], so that all potentials of a step can be added up.
///
/// prepare(x) comes first; value, gradient and Hessians are then asked for at the same x. Potentials that
/// keep something of x, PreparedPotential, check it. tests/potentials checks for every potential that the
/// gradient is the derivative of the value, and the Hessian that of the gradient.
class Potential {
 public:
  virtual ~Potential() = default;
  virtual std::string_view name() const = 0;
  /// Computes what depends on x as a whole, such as the contacts in reach.
  virtual void prepare(const Matrix3X&) {}
  /// Whether the potential can be asked at x without being prepared again. Hessians come in pieces: whoever
  /// asks for them checks this once.
  virtual bool is_at(const Matrix3X&) const { return true; }
  virtual double value(const Matrix3X& x) const = 0;
  virtual void add_gradient(const Matrix3X& x, Matrix3X& gradient) const = 0;
  /// Whether value and gradient can be asked for in parts, which the processes of a team do: what the terms
  /// [begin, end) add to them.
  virtual bool has_parts() const { return false; }
  virtual double value_of(const Matrix3X& x, Index begin, Index end) const;
  virtual void add_gradient_of(const Matrix3X& x, Index begin, Index end, Matrix3X& gradient) const;
  virtual Index term_count() const = 0;
  /// The points of term i: the pattern of the Hessian. Valid until the terms change.
  virtual TermPoints term(Index i) const = 0;
  /// About how long the Hessian of term i takes beside those of others, at least 1: the processes of a team
  /// share the terms so that each has about as much to do.
  virtual Index cost(Index) const { return 1; }
  /// Whether prepare() may change the list of terms. If not, it stays the same during a solve.
  virtual bool terms_vary() const { return false; }
  /// A solve begins: until the terms change, Hessians are those of the model that follow() improves. They are
  /// exact where mismatch() is zero.
  virtual void begin_solve() {}
  /// The Newton step from x, where the Hessian was asked for, moves the points by these columns.
  virtual void follow(const Matrix3X& /*x*/, const Matrix3X& /*move*/) {}
  /// By how much the forces that the model expects differ from those at x, as a share of the largest.
  virtual double mismatch(const Matrix3X& /*x*/) const { return 0; }
  /// Fills the Hessians of the terms [begin, end), which `out` has room for; any thread.
  virtual void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                        LocalHessians& out) const = 0;
  /// Largest α ∈ [0, 1] found for which the path up to α stays where this potential is finite (no collision,
  /// no inversion, no strain beyond its limit), and where a curved path must be cut for the same to hold for
  /// its chords. Conservative: never too large.
  virtual StepBound feasible_step(const Path&) const { return {1}; }
};

inline constexpr Index few_terms = 512;  ///< fewer are not worth adding in parallel

/// Adds local gradients of the terms [first, last) of a potential in their order, whatever the number of
/// threads: computed in parallel, then added in parallel, each thread a range of points. `local(i, g)` fills
/// the gradient g, an Eigen::VectorXd map of three numbers for each of the term's points, zero before.
template <class Local>
void add_local_gradients(const Potential& potential, std::pair<Index, Index> terms, Matrix3X& gradient,
                         const Local& local) {
  constexpr Index batch = 8192;
  const auto [first_term, end_term] = terms;
  if (first_term >= end_term) return;
  std::vector<TermPoints> points(std::size_t(std::min(end_term - first_term, batch)));
  std::vector<std::size_t> start(points.size() + 1);
  AlignedBuffer values;
  for (Index begin = first_term; begin < end_term; begin += batch) {
    const Index n = std::min(batch, end_term - begin);
    for (Index i = 0; i < n; ++i) {
      points[std::size_t(i)] = potential.term(begin + i);
      start[std::size_t(i) + 1] = next_aligned(start[std::size_t(i)] + 3 * points[std::size_t(i)].size());
    }
    values.assign(start[std::size_t(n)], 0.0);
    const auto of = [&](Index i) {
      return Eigen::Map<Eigen::VectorXd>(values.data() + start[std::size_t(i)],
                                         Index(3 * points[std::size_t(i)].size()));
    };
    parallel_for(n, [&](Index i) { local(begin + i, of(i)); });
    const auto add = [&](Index first, Index last) {
      for (Index i = 0; i < n; ++i) {
        const double* g = values.data() + start[std::size_t(i)];
        for (const Index p : points[std::size_t(i)]) {
          if (first <= p && p < last) gradient.col(p) += Eigen::Map<const Vector3>(g);
          g += 3;
        }
      }
    };
    if (n < few_terms)
      add(0, Index(gradient.cols()));
    else
      parallel_shares(Index(gradient.cols()), add);
  }
}

/// Of all terms.
template <class Local>
void add_local_gradients(const Potential& potential, Matrix3X& gradient, const Local& local) {
  add_local_gradients(potential, {0, potential.term_count()}, gradient, local);
}

}  // namespace apart
