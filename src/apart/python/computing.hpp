#pragma once
// What happens while C++ computes: other threads of Python run, Ctrl-C and errors of callbacks end the
// computation.
#include <pybind11/pybind11.h>

#include <atomic>
#include <exception>
#include <utility>

namespace apart::python {

namespace py = pybind11;

/// Computations under way, in all threads of Python. Read and changed with the interpreter's lock.
int& computations();

/// Calls f while other threads of Python may run. f must not touch objects of Python.
template <class F>
decltype(auto) compute(F&& f) {
  struct Count {
    Count() { ++computations(); }
    ~Count() { --computations(); }
  } count;
  const py::gil_scoped_release release;
  return std::forward<F>(f)();
}

/// Watches for what should end a computation: Ctrl-C, and errors of callbacks. The first is kept, and raised
/// when the computation has ended.
class Watch {
 public:
  /// Whether to end; any thread may ask.
  bool should_stop() {
    const py::gil_scoped_acquire acquire;
    if (!error_ && PyErr_CheckSignals() != 0) keep();
    return bool(error_);
  }
  /// Calls a function of Python.
  template <class F>
  void call(F&& f) {
    const py::gil_scoped_acquire acquire;
    if (error_) return;
    try {
      f();
    } catch (const py::error_already_set&) {
      error_ = std::current_exception();
    }
  }
  /// After the computation, with the interpreter's lock.
  void raise() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  bool has_error() const { return bool(error_); }

 private:
  void keep() {
    try {
      throw py::error_already_set();
    } catch (const py::error_already_set&) {
      error_ = std::current_exception();
    }
  }
  std::exception_ptr error_;
};

/// Marks an object as in use by a computation. Another thread that wants to use it meanwhile gets an error.
class InUse {
 public:
  static constexpr const char* message =
      "is computing in another thread, or in a callback of its own; wait for it";
  explicit InUse(bool& flag) : flag_(flag) {
    if (flag_) throw py::value_error(message);
    flag_ = true;
  }
  ~InUse() { flag_ = false; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  bool& flag_;
};

}  // namespace apart::python
