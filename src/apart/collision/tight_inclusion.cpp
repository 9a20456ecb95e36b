#include <apart/collision/ccd_methods.hpp>
#include <apart/collision/tight_inclusion_search.hpp>

#include <experimental/simd>

namespace apart {

namespace {

namespace stdx = std::experimental;

/// Four doubles in vector registers: one of AVX2, or what the target of the build has.
class VectorLanes {
  using Simd = stdx::simd<double, stdx::simd_abi::deduce_t<double, 4>>;

 public:
  VectorLanes() = default;
  static VectorLanes of(double x, double y, double z, double w) {
    alignas(stdx::memory_alignment_v<Simd>) const double values[4] = {x, y, z, w};
    return Simd(values, stdx::vector_aligned);
  }
  friend VectorLanes operator+(const VectorLanes& a, const VectorLanes& b) { return a.v_ + b.v_; }
  friend VectorLanes operator-(const VectorLanes& a, const VectorLanes& b) { return a.v_ - b.v_; }
  friend VectorLanes operator*(const VectorLanes& a, const VectorLanes& b) { return a.v_ * b.v_; }
  friend VectorLanes operator*(double a, const VectorLanes& b) { return a * b.v_; }
  friend VectorLanes operator-(const VectorLanes& a) { return -a.v_; }
  friend VectorLanes min(const VectorLanes& a, const VectorLanes& b) { return stdx::min(a.v_, b.v_); }
  friend VectorLanes max(const VectorLanes& a, const VectorLanes& b) { return stdx::max(a.v_, b.v_); }
  friend VectorLanes abs(const VectorLanes& a) { return stdx::abs(a.v_); }
  friend bool all_at_most(const VectorLanes& a, const VectorLanes& b) { return stdx::all_of(a.v_ <= b.v_); }
  double last() const { return v_[3]; }
  double first_three_sum() const { return v_[0] + v_[1] + v_[2]; }

 private:
  VectorLanes(const Simd& v) : v_(v) {}
  Simd v_;
};

}  // namespace

std::optional<double> tight_inclusion_ccd(const CcdQuery& query, const CcdOptions& options) {
  thread_local TightInclusion<VectorLanes> method;  // keeps its memory
  return method.run(query, options);
}

}  // namespace apart
