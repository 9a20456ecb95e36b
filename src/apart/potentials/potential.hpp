#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/types.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace apart {

/// The points one local term depends on (at most four); unused entries are −1.
struct TermPoints {
  std::array<Index, 4> ids = {-1, -1, -1, -1};
  int size = 0;
};

/// Second derivatives of one local term; rows and columns past 3·size are not read.
struct LocalHessian {
  TermPoints points;
  StencilMatrix matrix;
};

enum class Projection { none, psd };  ///< exact second derivatives, or each term made positive semi-definite

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
  /// The points of term i: the pattern of the Hessian.
  virtual TermPoints term(Index i) const = 0;
  /// Fills local Hessians of the terms [begin, begin + out.size()); any thread.
  virtual void hessians(const Matrix3X& x, Index begin, Projection projection,
                        std::span<LocalHessian> out) const = 0;
};

/// Adds local gradients in the order of the terms, whatever the number of threads: computed in parallel by
/// chunks, added one after the other. `local(i)` returns the TermPoints and a StencilVector.
template <class Local>
void add_local_gradients(Index count, Matrix3X& gradient, const Local& local) {
  constexpr Index batch = 8192;
  std::vector<std::pair<TermPoints, StencilVector>> buffer(std::min(count, batch));
  for (Index begin = 0; begin < count; begin += batch) {
    const Index n = std::min(batch, count - begin);
    parallel_for(n, [&](Index i) { buffer[i] = local(begin + i); });
    for (Index i = 0; i < n; ++i)
      for (int k = 0; k < buffer[i].first.size; ++k)
        gradient.col(buffer[i].first.ids[k]) += buffer[i].second.template segment<3>(3 * k);
  }
}

}  // namespace apart
