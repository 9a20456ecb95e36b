#pragma once
#include <apart/simulation/model.hpp>
#include <apart/simulation/state.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

class StepEnd;
class GapMeter;

/// A quantity of some bodies, measured after every step. SI units; of several bodies taken together.
struct Probe {
  enum class Kind {
    position,      ///< mean position of the points [m]
    velocity,      ///< mean velocity of the points [m/s]
    momentum,      ///< linear [kg m/s], and angular about the origin [kg m²/s]
    energy,        ///< kinetic, elastic, of gravity, and of the kinetic that of spin [J]
    reaction,      ///< total force on the body by which the points are held or moved [N]
    contact,       ///< of `others` on `bodies`: total normal and friction force, sum of normal magnitudes [N]
    gap,           ///< smallest distance of `bodies` to `others`, without thickness [m]
    strain,        ///< largest |σ − 1| over elements, smallest V/V₀, largest σ − 1 and 1 − σ
    displacement,  ///< mean of x − x₀ over the points, x₀ where they were placed [m]
    pressure,      ///< of contact: largest, mean over the touched area [Pa], and that area [m²]
    joint,         ///< force and torque on its first body [N, N m], position [m], angle [degrees], error
  };
  std::string name;
  Kind kind = Kind::position;
  std::vector<int> bodies;
  std::vector<int> others;  ///< of contact and gap
  std::vector<PointSet>
      points;      ///< of position, displacement, velocity and reaction: a set of each of `bodies`
  int joint = -1;  ///< of joint
};

/// Names of the numbers of a probe, in their order.
std::span<const std::string_view> columns_of(Probe::Kind kind);
/// Their units, empty for shares.
std::span<const std::string_view> units_of(Probe::Kind kind);

/// Measures one probe after each step, and keeps what does not change from step to step, so that a
/// measurement costs little beside a step. The numbers depend on the step alone, not on earlier measurements.
class ProbeMeter {
 public:
  explicit ProbeMeter(Probe probe);
  ProbeMeter(ProbeMeter&&) noexcept;
  ~ProbeMeter();

  const Probe& probe() const { return probe_; }
  /// The numbers. `end`: of the step that led to the state; always of the same model, which must live as long
  /// as this does.
  std::vector<double> measure(const StepEnd& end, const State& state);

 private:
  struct Elements;
  const std::vector<Index>& measured(const Model& model);
  Probe probe_;
  std::vector<std::unique_ptr<Elements>> elements_;  ///< of energy and strain: one for each body that moves
  /// Of position, displacement and velocity: output points of the model; of reaction: nodes.
  std::optional<std::vector<Index>> measured_;
  std::unique_ptr<GapMeter> gap_;
  std::vector<char> gap_present_;  ///< bodies present when it was made
};

}  // namespace apart
