// Which points of a body a script means, and how they move.
#include <apart/geometry/aabb.hpp>
#include <apart/importers/ipc/importer.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/validation.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart::ipc {

Side Importer::side_of(const IpcCut& cut) const {
  Side side{cut.rest && turned_ ? Vector3(turn_ * cut.direction) : cut.direction, cut.below, 0};
  for (int k = 0; k < 3; ++k)
    if (std::abs(side.direction[k]) < 1e-12) side.direction[k] = 0;
  double low = -infinity, high = infinity, shift = 0;  // nearest values on the two sides
  std::vector<double> close;                           // values that rounding alone has put on one side
  std::size_t lower = 0;                               // of them, how many on the lower
  double span_low = infinity, span_high = -infinity;
  for (const IpcComponent& c : components_) {
    const VectorX values = c.start.transpose() * side.direction;
    span_low = std::min(span_low, values.minCoeff());
    span_high = std::max(span_high, values.maxCoeff());
    shift = values[0] - cut.direction.dot((cut.rest ? c.rest : c.start).col(0));
  }
  const double wanted = cut.threshold + shift, noise = 1e-9 * (span_high - span_low);
  for (const IpcComponent& c : components_) {
    const VectorX values = c.start.transpose() * side.direction;
    for (Index i = 0; i < values.size(); ++i) {
      const double own = cut.direction.dot((cut.rest ? c.rest : c.start).col(i));
      const bool is_lower = cut.below ? own < cut.threshold : own <= cut.threshold;
      if (std::abs(values[i] - wanted) <= noise) {
        close.push_back(values[i]);
        lower += is_lower;
      } else if (is_lower) {
        low = std::max(low, values[i]);
      } else {
        high = std::min(high, values[i]);
      }
    }
  }
  if (!close.empty()) {
    const auto [least, most] = std::minmax_element(close.begin(), close.end());
    if (2 * lower > close.size())
      low = *most;
    else
      high = *least;
  }
  const double reach = std::max(span_high - span_low, 1e-300);
  if (low == -infinity) low = std::min(wanted, high) - 0.01 * reach;
  if (high == infinity) high = std::max(wanted, low) + 0.01 * reach;
  side.threshold = between(low, high, wanted);
  return side;
}

PlacedChoice Importer::place_choice(const IpcChoice& choice) const {
  PlacedChoice place{{}, choice.point};
  for (const auto& cuts : choice.any_of) {
    place.any_of.emplace_back();
    for (const IpcCut& cut : cuts) place.any_of.back().push_back(side_of(cut));
  }
  return place;
}

Chosen Importer::choose(const PlacedChoice& place, std::size_t component) const {
  const Matrix3X& points = components_[component].start;
  Chosen chosen;
  if (place.point) {
    if (place.point->first != component) return chosen;
    chosen.points = {place.point->second};
    chosen.where = indices(chosen.points);
    return chosen;
  }
  const auto& sides = place.any_of;
  const auto inside = [&](const Vector3& p) {
    return std::any_of(sides.begin(), sides.end(), [&](const auto& all) {
      return std::all_of(all.begin(), all.end(), [&](const Side& s) { return s.holds(p); });
    });
  };
  for (Index i = 0; i < points.cols(); ++i)
    if (inside(points.col(i))) chosen.points.push_back(i);
  if (chosen.points.empty()) return chosen;
  if (Index(chosen.points.size()) == points.cols()) {
    chosen.where = AllSelection{};
    return chosen;
  }
  std::string formula;
  for (const auto& all : sides) {
    std::string part;
    for (const Side& s : all) part += (part.empty() ? "" : " && ") + s.text();
    if (sides.size() > 1 && all.size() > 1) part = "(" + part + ")";
    formula += (formula.empty() ? "" : " || ") + part;
  }
  ExpressionSelection selection;
  selection.expression = formula;
  chosen.where = selection;
  return chosen;
}

IndexSelection Importer::indices(const std::vector<Index>& points) {
  IndexSelection selection;
  selection.indices = points;
  return selection;
}

Chosen Importer::choose_box(std::size_t component, const Vector3& low, const Vector3& high) const {
  const IpcComponent& c = components_[component];
  const Source& source = sources_[shape_source_[c.shape]];
  const Matrix3X& p = source.mesh.points;
  const Aabb box = bounding_box(p);
  const Vector3 extent = box.upper - box.lower;
  const Vector3 from = extent.cwiseProduct(low) + box.lower, to = extent.cwiseProduct(high) + box.lower;
  std::vector<bool> surface(std::size_t(p.cols()), c.dimension < 3);
  if (c.dimension == 3) {
    const Faces faces = boundary_faces(source.mesh.tetrahedra);
    for (const int i : faces.reshaped()) surface[std::size_t(i)] = true;
  }
  Chosen chosen;
  for (Index i = 0; i < p.cols(); ++i)
    if (surface[std::size_t(i)] && (p.col(i).array() >= from.array()).all() &&
        (p.col(i).array() <= to.array()).all())
      chosen.points.push_back(i);
  if (chosen.points.empty()) return chosen;
  if (const auto where = world_box(component, low, high, chosen.points))
    chosen.where = *where;
  else
    chosen.where = indices(chosen.points);
  return chosen;
}

std::optional<BoxSelection> Importer::world_box(std::size_t component, const Vector3& low,
                                                const Vector3& high, const std::vector<Index>& wanted) const {
  const Matrix3& rotation = placings_[component].rotate;
  Vector3 from, to;
  for (int k = 0; k < 3; ++k) {
    Eigen::Index j;
    rotation.row(k).cwiseAbs().maxCoeff(&j);
    if (std::abs(std::abs(rotation(k, j)) - 1) > 1e-12) return std::nullopt;
    const bool forward = rotation(k, j) > 0;
    from[k] = forward ? low[j] : 1 - high[j];
    to[k] = forward ? high[j] : 1 - low[j];
  }
  const Matrix3X& points = components_[component].start;
  const Aabb box = bounding_box(points);
  const double slack = 1e-9 * box.diagonal();  // as in the selection of points
  const Vector3 lower = box.lower + from.cwiseProduct(box.upper - box.lower),
                upper = box.lower + to.cwiseProduct(box.upper - box.lower);
  std::vector<Index> found;
  for (Index i = 0; i < points.cols(); ++i)
    if (((points.col(i) - lower).array() >= -slack).all() &&
        ((upper - points.col(i)).array() >= -slack).all())
      found.push_back(i);
  if (found != wanted) return std::nullopt;
  BoxSelection selection;
  selection.box.min = numbers(from);
  selection.box.max = numbers(to);
  selection.box.relative = true;
  return selection;
}

std::optional<MotionDescription> Importer::motion(const IpcMovement& movement) const {
  if (movement.pieces.empty()) return {};
  const bool still = std::all_of(movement.pieces.begin(), movement.pieces.end(),
                                 [](const IpcPiece& p) { return p.velocity.isZero(0); });
  if (still && !movement.spin) return {};
  if (!movement.path.empty() || movement.pieces.size() > 1) return keyframes(movement);
  FormulaMotion result;
  const Vector3& v = movement.pieces[0].velocity;
  result.translate = {way(v[0]), way(v[1]), way(v[2])};
  if (movement.spin) {
    TurningDescription turning;
    turning.axis = numbers(movement.spin->axis);
    turning.angle = way(movement.spin->rate);
    result.rotate = turning;
    result.center = numbers(movement.spin->center);
  }
  return result;
}

MotionDescription Importer::keyframes(const IpcMovement& movement) const {
  KeyframeMotion result;
  const auto add = [&](double time, const Vector3& shift, double angle) {
    KeyframeDescription frame;
    frame.t = number(time);
    frame.translate = numbers(shift);
    if (movement.spin) frame.rotate = axis_angle(movement.spin->axis, angle);
    result.keyframes.push_back(frame);
  };
  if (movement.spin) result.center = numbers(movement.spin->center);
  if (!movement.path.empty()) {
    for (std::size_t k = 0; k <= movement.path.size(); ++k) {
      const double time = double(k) * script_.dt;
      add(time, k == 0 ? Vector3(Vector3::Zero()) : movement.path[k - 1], time * movement.spin->rate);
    }
    return result;
  }
  Vector3 shift = Vector3::Zero();
  double angle = 0;
  const double end = double(ipc_steps(script_)) * script_.dt;
  for (std::size_t i = 0; i < movement.pieces.size(); ++i) {
    const IpcPiece& piece = movement.pieces[i];
    add(piece.time, shift, angle);
    const double next = i + 1 < movement.pieces.size() ? movement.pieces[i + 1].time : end;
    shift += (next - piece.time) * piece.velocity;
    if (movement.spin && piece.spins) angle += (next - piece.time) * movement.spin->rate;
  }
  const IpcPiece& last = movement.pieces.back();
  if (last.time < end && (!last.velocity.isZero(0) || (movement.spin && last.spins))) add(end, shift, angle);
  return result;
}

IpcMovement Importer::steady(const Vector3& velocity, const Vector3& angular_velocity, const Matrix3X& points,
                             const IpcTimeRange& range) const {
  IpcMovement movement;
  movement.pieces.push_back({0, velocity, true});
  const auto turn = rate_of(angular_velocity, script_.dt);
  if (!turn) return movement;
  const Aabb box = bounding_box(points);
  const Vector3 center = box.centre();
  movement.spin = IpcSpin{turn->axis, turn->angle, center};
  const double end = double(ipc_steps(script_)) * script_.dt;
  const Index steps =
      Index(std::ceil((std::min(end, range.until) - std::max(0.0, range.from)) / script_.dt * (1 - 1e-12)));
  if (steps > most_keyframes) return movement;
  const Matrix3 rotation = about(turn->axis, turn->angle * script_.dt);
  std::vector<Vector3> path;
  Vector3 shift = Vector3::Zero();
  Matrix3X at = points;
  bool wanders = false;
  for (Index k = 0; k < steps; ++k) {
    const Vector3 pivot = bounding_box(at).centre();
    shift = rotation * shift + (Matrix3::Identity() - rotation) * (pivot - center) + script_.dt * velocity;
    path.push_back(shift);
    wanders = wanders || (shift - double(k + 1) * script_.dt * velocity).norm() > 1e-6 * box.diagonal();
    at = ((rotation * (at.colwise() - pivot)).colwise() + pivot).colwise() + script_.dt * velocity;
  }
  if (wanders) movement.path = std::move(path);
  return movement;
}

void Importer::set_times(TimesDescription& times, const IpcTimeRange& a, const IpcTimeRange& b) {
  const double from = std::max(a.from, b.from), until = std::min(a.until, b.until);
  if (from > 0) times.from = number(from);
  if (until < 1e300) times.until = number(until);
}

}  // namespace apart::ipc
