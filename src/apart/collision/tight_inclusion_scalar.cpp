// Compiled without vectorisation: what tight_inclusion.cpp is compared with, in answers and in speed.
#include <apart/collision/ccd_methods.hpp>
#include <apart/collision/tight_inclusion_search.hpp>

namespace apart {

namespace {

class ScalarLanes {
 public:
  ScalarLanes() = default;
  static ScalarLanes of(double x, double y, double z, double w) { return ScalarLanes({x, y, z, w}); }
  friend ScalarLanes operator+(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v_[i] + b.v_[i]; });
  }
  friend ScalarLanes operator-(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v_[i] - b.v_[i]; });
  }
  friend ScalarLanes operator*(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v_[i] * b.v_[i]; });
  }
  friend ScalarLanes operator*(double a, const ScalarLanes& b) {
    return each([&](int i) { return a * b.v_[i]; });
  }
  friend ScalarLanes operator-(const ScalarLanes& a) {
    return each([&](int i) { return -a.v_[i]; });
  }
  friend ScalarLanes min(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return std::min(a.v_[i], b.v_[i]); });
  }
  friend ScalarLanes max(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return std::max(a.v_[i], b.v_[i]); });
  }
  friend ScalarLanes abs(const ScalarLanes& a) {
    return each([&](int i) { return std::abs(a.v_[i]); });
  }
  friend bool all_at_most(const ScalarLanes& a, const ScalarLanes& b) {
    return a.v_[0] <= b.v_[0] && a.v_[1] <= b.v_[1] && a.v_[2] <= b.v_[2] && a.v_[3] <= b.v_[3];
  }
  double last() const { return v_[3]; }
  double first_three_sum() const { return v_[0] + v_[1] + v_[2]; }

 private:
  explicit ScalarLanes(const std::array<double, 4>& v) : v_(v) {}
  template <class F>
  static ScalarLanes each(F&& f) {
    return ScalarLanes({f(0), f(1), f(2), f(3)});
  }
  std::array<double, 4> v_;
};

}  // namespace

std::optional<double> tight_inclusion_ccd_scalar(const CcdQuery& query, const CcdOptions& options) {
  thread_local TightInclusion<ScalarLanes> method;
  return method.run(query, options);
}

}  // namespace apart
