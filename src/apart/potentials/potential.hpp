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
#include <vector>

namespace apart {

/// The points one local term depends on, as the potential keeps them: any number.
using TermPoints = std::span<const Index>;

/// At most four points by value, for potentials that have no other list of them.
struct FewPoints {
  std::array<Index, 4> ids = {-1, -1, -1, -1};
  int size = 0;
  operator TermPoints() const { return {ids.data(), std::size_t(size)}; }
};

enum class Projection { none, psd };  ///< exact second derivatives, or each term made positive semi-definite

class Potential;

/// Second derivatives of consecutive terms of a potential: of a term of n points a matrix of 3n × 3n, all in
/// one buffer that is used again and again, so that no term allocates.
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

/// A sum of local terms of points x (3 × n): nodes or collision vertices; the owner knows which. Energies are
/// those of the incremental potential: energy times dt² [kg m²], so that all terms add up.
///
/// prepare(x) comes first; value, gradient and Hessian then speak of the same x. tests/potentials checks for
/// every potential that the gradient is the derivative of the value and the Hessian that of the gradient.
class Potential {
 public:
  virtual ~Potential() = default;
  virtual std::string_view name() const = 0;
  /// Finds what depends on x as a whole (contacts in reach).
  virtual void prepare(const Matrix3X&) {}
  virtual double value(const Matrix3X& x) const = 0;
  virtual void add_gradient(const Matrix3X& x, Matrix3X& gradient) const = 0;
  virtual Index term_count() const = 0;
  /// The points of term i: the pattern of the Hessian. Valid until the terms change.
  virtual TermPoints term(Index i) const = 0;
  /// Whether prepare() may change the terms. Those of other potentials stay the same during a solve.
  virtual bool terms_vary() const { return false; }
  /// Fills the Hessians of the terms [begin, end), which `out` has room for; any thread.
  virtual void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                        LocalHessians& out) const = 0;
  /// Largest α ∈ [0, 1] found for which the path up to α crosses nothing this potential must not cross: a
  /// contact, an inversion, a limit of strain; and where its chords must be cut for the same to be true of
  /// them. Conservative.
  virtual StepBound feasible_step(const Path&) const { return {1}; }
};

inline constexpr Index few_terms = 512;  ///< not worth to be added in parallel

/// Adds local gradients in the order of the terms, whatever the number of threads: computed in parallel,
/// then added in parallel, each thread a range of points. `local(i, g)` fills the gradient g, an
/// Eigen::VectorXd map of three numbers for each of the term's points, zero before.
template <class Local>
void add_local_gradients(const Potential& potential, Matrix3X& gradient, const Local& local) {
  constexpr Index batch = 8192;
  const Index count = potential.term_count();
  std::vector<TermPoints> points(std::size_t(std::min(count, batch)));
  std::vector<std::size_t> start(points.size() + 1);
  AlignedBuffer values;
  for (Index begin = 0; begin < count; begin += batch) {
    const Index n = std::min(batch, count - begin);
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

}  // namespace apart
