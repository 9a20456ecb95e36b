#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace apart {

/// Bad input: the message says what, where, and what to do. The program ends with exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  template <class... Args>
  explicit InputError(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// Something other than the input stands in the way: no space, another process. The same command may succeed
/// later. The program ends with exit code 2.
class UnavailableError : public InputError {
 public:
  using InputError::InputError;
};

/// The solver could not continue; the last good state is kept. The program ends with exit code 3.
class SolverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A bug: an invariant of the code is violated. Checked in release builds too.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InvariantError unless `condition` holds.
inline void ensure(bool condition, const char* what) {
  if (!condition) throw InvariantError(what);
}

}  // namespace apart
