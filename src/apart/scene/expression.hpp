#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// A formula in x, y, z [m] and t [s], such as "0.1*sin(2*pi*t)" or "x < 0.1 && y > 0". Compiled once, then
/// cheap to evaluate and free of side effects. From loosest to tightest binding:
///   ||   &&   < <= > >= == !=   + -   * /   unary - !   ^ (to the right: 2^3^2 = 512, -2^2 = -4)
/// Truth is 1, falsehood 0, and every other number but 0 counts as true. Constants: pi, e. Functions:
/// function_names().
class Expression {
 public:
  /// Throws InputError "got '…', <problem> at character 5; <remedy>" for text that is no formula.
  explicit Expression(std::string_view text);
  explicit Expression(double constant);
  /// In t: straight lines between points (t [s], value), constant before the first and after the last. There
  /// is at least one, and their times increase.
  explicit Expression(std::vector<std::array<double, 2>> curve);

  /// May be NaN or infinite, as the formula says.
  double operator()(double x, double y, double z, double t) const;
  bool uses(char variable) const;  ///< 'x', 'y', 'z' or 't'

  static std::string function_names();  ///< "abs, acos, …, min, max", for messages and documentation

 private:
  friend class ExpressionParser;
  enum class Operation : std::uint8_t;
  struct Instruction {
    Operation operation;
    double number = 0;  ///< of a constant
    int which = 0;      ///< variable or function
  };
  std::vector<std::array<double, 2>> curve_;  ///< of the operation `curve`
  std::vector<Instruction> code_;             ///< postfix; needs a stack of bounded size
};

}  // namespace apart
