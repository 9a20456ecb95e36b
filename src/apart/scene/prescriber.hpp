#pragma once
#include <apart/bodies/body.hpp>
#include <apart/io/located_json.hpp>
#include <apart/scene/selection.hpp>

namespace apart {

/// Times at which the run will ask for a motion.
struct Clock {
  double dt = 0;
  Index steps = 0;
};

/// Whether a step ends within a range, at any time before or after the run's end.
bool covers_a_step(const TimeRange& range, const Clock& clock);

/// "from" and "until" of an object. Throws InputError if it ends before it begins, or falls between two
/// steps.
TimeRange read_time_range(const LocatedJson& v, const Clock& clock);

/// Throws InputError unless a motion begins where the points are, and stays finite.
void check_motion(const LocatedJson& v, const Motion& motion, const Matrix3X& points, const Clock& clock);

/// Prescribes the parts of one body, and refuses to give one coordinate two different motions at a time.
class Prescriber {
 public:
  Prescriber(Body& body, const PlacedMesh& placed, const Clock& clock);
  void whole(const LocatedJson& motion);
  void part(const LocatedJson& fixed);

 private:
  struct Owner {
    std::string path;    ///< who prescribes
    std::string motion;  ///< how, as text
    TimeRange when;
  };
  void give(const LocatedJson& who, const std::vector<Index>& nodes, std::array<bool, 3> axes,
            const std::optional<LocatedJson>& motion_at, TimeRange when);

  Body& body_;
  PlacedMesh placed_;
  Clock clock_;
  Vector3 center_;
  std::vector<Owner> owners_;
  std::vector<std::vector<int>> taken_;  ///< per coordinate (3 · node + axis): its owners
};

}  // namespace apart
