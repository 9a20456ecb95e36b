#include <apart/solver/linear_solver.hpp>

#include <apart/core/error.hpp>

#include <algorithm>
#include <array>

namespace apart {

std::span<const LinearSolverMethod> linear_solver_methods() {
  static constexpr std::array methods = {
      LinearSolverMethod{"cholesky", "multifrontal sparse Cholesky factorisation", false, true,
                         make_cholesky_solver},
      LinearSolverMethod{"eigen", "simple sparse Cholesky factorisation; slow, for comparison", true, true,
                         make_eigen_solver},
  };
  return methods;
}

std::span<const std::string_view> ordering_names() {
  static constexpr std::array<std::string_view, 3> names = {"auto", "amd", "metis"};
  return names;
}

std::unique_ptr<LinearSolver> make_linear_solver(std::string_view name, std::string_view ordering) {
  const auto orderings = ordering_names();
  if (std::find(orderings.begin(), orderings.end(), ordering) == orderings.end())
    throw InputError("ordering: got '{}', must be auto, amd or metis", ordering);
  for (const LinearSolverMethod& m : linear_solver_methods())
    if (m.name == name) return m.make(ordering);
  throw InputError("linear solver: got '{}', must be cholesky or eigen", name);
}

}  // namespace apart
