#pragma once
#include <atomic>

namespace apart {

/// A minimum shared by threads. Terms may be skipped or cut short once they are known to exceed the value
/// read here: the final value is then still the minimum over all complete terms, whatever the order.
class SharedMinimum {
 public:
  explicit SharedMinimum(double start) : value_(start) {}
  double get() const { return value_.load(std::memory_order_relaxed); }
  void lower_to(double v) {
    double seen = get();
    while (v < seen && !value_.compare_exchange_weak(seen, v, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<double> value_;
};

}  // namespace apart
