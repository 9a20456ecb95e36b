#include <apart/geometry/aabb.hpp>
#include <apart/geometry/mesh.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/ipc_import.hpp>
#include <apart/scene/ipc_staging.hpp>
#include <apart/scene/validation.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace apart {

namespace {

namespace fs = std::filesystem;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double degrees = std::numbers::pi / 180;
constexpr int most_components = 20000;  // a scene holds fewer still, but says so itself
constexpr Index most_keyframes = 20000;

// ---- Values -------------------------------------------------------------------------------------

/// The number to 15 digits: what was 0.3 before it was computed with is 0.3 again.
double tidy(double value) {
  const double rounded = *parse_real(fmt::format("{:.15g}", value));
  return rounded == 0 ? 0 : rounded;  // no negative zero
}

JsonValue number(double value) {
  if (!std::isfinite(value)) throw InputError("some number becomes too large; check scales, sizes and times");
  return JsonValue(tidy(value));
}
JsonValue text(std::string_view value) {
  return JsonValue(std::string(value));
}
JsonValue numbers(const Vector3& v) {
  return JsonValue(JsonValue::Array{number(v[0]), number(v[1]), number(v[2])});
}

class Object {
 public:
  Object& add(std::string_view key, JsonValue value) {
    members_.emplace_back(std::string(key), std::move(value));
    return *this;
  }
  JsonValue value() { return JsonValue(std::move(members_)); }

 private:
  JsonValue::Object members_;
};

/// Gives a value and all below it a place, unless it has one.
void locate(JsonValue& value, const std::shared_ptr<const std::string>& source, int line) {
  if (value.line > 0) return;
  value.source = source;
  value.line = line;
  value.column = 1;
  if (auto* items = value.get_if<JsonValue::Array>())
    for (JsonValue& item : *items) locate(item, source, line);
  if (auto* members = value.get_if<JsonValue::Object>())
    for (auto& [key, member] : *members) locate(member, source, line);
}

/// "0.1*t": a way at constant speed.
JsonValue way(double speed) {
  speed = tidy(speed);
  if (speed == 0) return number(0);
  if (std::abs(speed) == 1) return text(speed > 0 ? "t" : "-t");
  return text(fmt::format("{}*t", speed));
}

/// The fewest digits that lie well between.
double between(double low, double high, double wanted) {
  const double margin = 1e-3 * (high - low);
  if (!(wanted > low + margin && wanted < high - margin)) wanted = low + 0.5 * (high - low);
  for (int digits = 2; digits < 17; ++digits) {
    const double rounded = *parse_real(fmt::format("{:.{}g}", wanted, digits));
    if (rounded > low + margin && rounded < high - margin) return rounded;
  }
  return wanted;
}

std::string flat_text(const JsonValue& value) {
  if (const auto* items = value.get_if<JsonValue::Array>()) {
    std::string out = "[";
    for (const JsonValue& item : *items) out += (out.size() > 1 ? ", " : "") + flat_text(item);
    return out + "]";
  }
  if (const auto* members = value.get_if<JsonValue::Object>()) {
    std::string out = "{";
    for (const auto& [key, member] : *members)
      out += (out.size() > 1 ? ", " : "") + flat_text(JsonValue(key)) + ": " + flat_text(member);
    return out + "}";
  }
  std::string out = to_text(value);
  out.pop_back();  // the end of the line
  return out;
}

// ---- Rotations ----------------------------------------------------------------------------------

Matrix3 about(const Vector3& axis, double angle) {
  const double quarters = angle / 90;
  if (quarters == std::round(quarters)) {  // exact, as the builder of scenes has them
    const int k = (int(std::fmod(quarters, 4)) + 4) % 4;
    const int sine[] = {0, 1, 0, -1}, cosine[] = {1, 0, -1, 0};
    Matrix3 cross;
    cross << 0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0;
    return Matrix3::Identity() + sine[k] * cross + (1 - cosine[k]) * cross * cross;
  }
  return Eigen::AngleAxisd(angle * degrees, axis).toRotationMatrix();
}

/// The reference's order: about z first.
Matrix3 euler(const Vector3& angles) {
  return about(Vector3::UnitX(), angles[0]) * about(Vector3::UnitY(), angles[1]) *
         about(Vector3::UnitZ(), angles[2]);
}

struct Turn {
  Vector3 axis;
  double angle;  ///< [degrees]
};

Turn turn_of(const Matrix3& rotation) {
  const Eigen::AngleAxisd turn(rotation);
  Vector3 axis = turn.axis();
  double angle = turn.angle() / degrees;
  if (axis.minCoeff() < -axis.maxCoeff()) {  // an axis that points forward reads better
    axis = -axis;
    angle = -angle;
  }
  for (int k = 0; k < 3; ++k)
    if (std::abs(axis[k]) < 1e-14) axis[k] = 0;
  return {axis, angle};
}

JsonValue axis_angle(const Vector3& axis, double angle) {
  return Object().add("axis", numbers(axis)).add("angle", number(angle)).value();
}

/// How a scene writes a rotation, which is about x first; `angles` are the ones it came from, if any.
JsonValue rotation_value(const Matrix3& rotation, const Vector3& angles, bool turned) {
  const int used = int((angles.array() != 0).count());
  if (!turned && used <= 1) return numbers(angles);
  if (rotation == Matrix3::Identity()) return numbers(Vector3::Zero());
  const Turn turn = turn_of(rotation);
  return axis_angle(turn.axis, turn.angle);
}

/// The constant turning that steps of euler(rates · dt) make.
std::optional<Turn> rate_of(const Vector3& rates, double dt) {
  const int used = int((rates.array() != 0).count());
  if (used == 0) return std::nullopt;
  if (used == 1)
    for (int k = 0; k < 3; ++k)
      if (rates[k] != 0) return Turn{Vector3::Unit(k), rates[k]};
  Turn turn = turn_of(euler(rates * dt));
  turn.angle /= dt;
  return turn;
}

// ---- The importer -------------------------------------------------------------------------------

struct Source {
  fs::path file;  ///< that was read
  Mesh mesh;      ///< as read, cells of other kinds left out
  int dimension;
  bool written_out = false;  ///< no file says what the body is: points or edges of another mesh
};

class Importer {
 public:
  Importer(const fs::path& file, const fs::path& directory)
      : script_(read_ipc_script(file)),
        directory_(directory.empty() ? directory : fs::absolute(directory).lexically_normal()),
        place_(std::make_shared<const std::string>(script_.file.string())),
        name_(file.stem().string()) {}

  ImportedScene import() {
    try {
      return convert();
    } catch (const InputError& e) {
      const std::string what = e.what();
      if (what.starts_with(*place_)) throw;
      throw InputError("{}: {}", *place_, what);
    }
  }

 private:
  ImportedScene convert() {
    for (const IpcIgnored& ignored : script_.ignored) note(ignored.line, ignored.message);
    read_meshes();
    place_shapes();
    place_mesh_obstacles();
    staging_ = stage_ipc_script(script_, components_, obstacle_points_);
    for (const IpcHandle& handle : staging_.handles) handle_places_.push_back(place_of(handle.where));
    for (const IpcPush& push : staging_.pushes) push_places_.push_back(place_of(push.where));
    find_scale();
    report_unused();
    JsonValue::Array bodies;
    add_shapes(bodies);
    add_mesh_obstacles(bodies);
    add_half_spaces(bodies);
    Object scene;
    scene.add("version", number(1)).add("name", text(name_));
    scene.add("description", text(fmt::format("converted from {}", script_.file.filename().string())));
    scene.add("time", time()).add("gravity", numbers(Vector3(0, script_.gravity ? -9.80665 : 0, 0)));
    scene.add("bodies", JsonValue(std::move(bodies))).add("contact", contact()).add("solver", solver());
    scene.add("output", output());
    ImportedScene result{scene.value(), std::move(notes_)};
    for (std::string& line : staging_.notes) result.notes.push_back(std::move(line));
    locate(result.scene, place_, 1);
    return result;
  }

  template <class... Args>
  [[noreturn]] void fail(int line, fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}:{}: {}", *place_, line, fmt::format(format, std::forward<Args>(args)...));
  }
  void note(int line, std::string_view what) {
    notes_.push_back(fmt::format("{}:{}: {}", *place_, line, what));
  }

  JsonValue at_line(int line, JsonValue value) const {
    locate(value, place_, line);
    return value;
  }

  // ---- files ------------------------------------------------------------------------------------

  /// A path of the script: beside it or, since the reference is started one folder above "input", from any
  /// folder above it, with or without that first part.
  std::optional<fs::path> find(const std::string& path) const {
    std::error_code error;
    const fs::path given = path;
    if (given.is_absolute()) return fs::exists(given, error) ? std::optional(given) : std::nullopt;
    fs::path inside = given;
    if (given.begin() != given.end() && *given.begin() == "input") inside = given.lexically_relative("input");
    fs::path folder = fs::absolute(script_.file).lexically_normal().parent_path();
    while (true) {
      for (const fs::path& candidate : {folder / given, folder / inside})
        if (fs::exists(candidate, error)) return candidate.lexically_normal();
      if (folder == folder.parent_path()) return std::nullopt;
      folder = folder.parent_path();
    }
  }

  JsonValue path_value(const fs::path& file) const {
    if (directory_.empty()) return text(file.string());
    const fs::path absolute = fs::absolute(file).lexically_normal();
    auto a = absolute.begin(), b = directory_.begin();
    int shared = 0;
    for (; a != absolute.end() && b != directory_.end() && *a == *b; ++a, ++b) ++shared;
    return text(shared > 1 ? absolute.lexically_relative(directory_).string() : absolute.string());
  }

  static Mesh only(Mesh mesh, int dimension) {
    if (dimension != 3) mesh.tetrahedra.resize(4, 0);
    if (dimension != 2) mesh.faces.resize(3, 0);
    if (dimension != 1) mesh.edges.resize(2, 0);
    mesh.vertices.resize(0);
    return mesh;
  }

  /// The mesh of a shape, by the extension: .msh tetrahedra, .obj triangles, .seg segments, .pt points. The
  /// last two may be missing, and are then taken from the .obj of the same name.
  Source read_source(const std::string& path, int line) const {
    const std::string extension = lower_case(fs::path(path).extension().string());
    const std::string other = fs::path(path).replace_extension(".obj").string();
    const auto missing = [&]() -> Source {
      fail(line, "mesh {} not found; it is looked for in the script's folder and those above it", path);
    };
    Source source;
    const auto file = find(path), instead = find(other);
    try {
      if (extension == ".msh" || extension == ".obj") {
        if (!file) return missing();
        source = {*file, only(read_mesh(*file), extension == ".msh" ? 3 : 2), extension == ".msh" ? 3 : 2};
      } else if (extension == ".seg") {
        if (file) {
          source = {*file, only(read_mesh(*file), 1), 1};
        } else {
          if (!instead) return missing();
          Mesh mesh = read_mesh(*instead);
          mesh.edges = edges_of(mesh.faces);
          source = {*instead, only(std::move(mesh), 1), 1, true};
        }
      } else if (extension == ".pt") {
        if (!file && !instead) return missing();
        const fs::path& read = file ? *file : *instead;
        source = {read, only(read_obj(read), 0), 0, true};
      } else {
        fail(line,
             "mesh {}: must be .msh (tetrahedra), .obj (triangles), .seg (segments) or .pt (points); convert "
             "it",
             path);
      }
    } catch (const LocatedError&) {
      throw;
    } catch (const InputError& e) {
      const std::string what = e.what();
      if (what.starts_with(*place_)) throw;
      throw InputError("{}:{}: {}", *place_, line, what);
    }
    const Mesh& mesh = source.mesh;
    if (source.dimension > 0 && mesh.tetrahedra.cols() + mesh.faces.cols() + mesh.edges.cols() == 0)
      fail(line, "mesh {} has no {}; check the file", path,
           source.dimension == 3   ? "tetrahedra"
           : source.dimension == 2 ? "triangles"
                                   : "segments");
    return source;
  }

  void read_meshes() {
    Problems problems;
    if (script_.shapes.empty()) fail(1, "has no shapes; add them with 'shapes input N'");
    std::map<std::string, std::size_t> known;
    const auto read = [&](const std::string& path, int line) {
      if (const auto found = known.find(path); found != known.end()) return found->second;
      try {
        sources_.push_back(read_source(path, line));
      } catch (const InputError& e) {
        problems.add(e.what());
        sources_.emplace_back();
      }
      return known[path] = sources_.size() - 1;
    };
    for (const IpcShape& shape : script_.shapes) shape_source_.push_back(read(shape.path, shape.line));
    for (const IpcMeshObstacle& obstacle : script_.mesh_obstacles)
      obstacle_source_.push_back(read(obstacle.path, obstacle.line));
    problems.throw_if_any();
    if (std::none_of(shape_source_.begin(), shape_source_.end(),
                     [&](std::size_t s) { return sources_[s].dimension == 3; }))
      fail(script_.shapes.front().line,
           "no shape has tetrahedra, so nothing can move; add one from a .msh file");
  }

  // ---- places -----------------------------------------------------------------------------------

  /// Of a component: x = rotation · (scale ∘ p) + translation.
  struct Placing {
    Vector3 scale, translate;
    Matrix3 rotate;
  };

  void place_shapes() {
    double count = 0;
    for (const IpcShape& shape : script_.shapes) count += shape.counts.cast<double>().prod();
    if (count > most_components)
      fail(script_.shapes.front().line, "the script has {} shapes, at most {} are read; join some", count,
           most_components);
    for (std::size_t s = 0; s < script_.shapes.size(); ++s) {
      const IpcShape& shape = script_.shapes[s];
      const Source& source = sources_[shape_source_[s]];
      const Matrix3 rotation = euler(shape.rotate);
      for (int i = 0; i < shape.counts[0]; ++i)
        for (int j = 0; j < shape.counts[1]; ++j)
          for (int k = 0; k < shape.counts[2]; ++k) {
            const Vector3 at = shape.translate + shape.spacing.cwiseProduct(Vector3(i, j, k));
            IpcComponent component{s, source.dimension, {}, {}};
            component.rest = ((rotation * shape.scale.asDiagonal()) * source.mesh.points).colwise() + at;
            component.start = component.rest;
            components_.push_back(std::move(component));
            placings_.push_back({shape.scale, at, rotation});
          }
    }
    const auto box = [&] {
      Aabb all;
      for (const IpcComponent& c : components_) all.include(bounding_box(c.start));
      return all;
    };
    turned_ = script_.turn_degrees != 0;
    if (turned_) {
      turn_ = about(script_.turn_axis, script_.turn_degrees);
      const Aabb all = box();
      const Vector3 center = 0.5 * (all.upper - all.lower);  // half the extent, wherever the scene is
      for (IpcComponent& c : components_) c.start = (turn_ * (c.start.colwise() - center)).colwise() + center;
      for (Placing& p : placings_) {
        p.rotate = turn_ * p.rotate;
        p.translate = turn_ * (p.translate - center) + center;
      }
    }
    if (script_.size > 0) {
      const Aabb all = box();
      size_factor_ = script_.size / (all.upper - all.lower).maxCoeff();
      const Vector3 corner = size_factor_ * all.lower;
      for (IpcComponent& c : components_) {
        c.rest = (size_factor_ * c.rest).colwise() - corner;
        c.start = (size_factor_ * c.start).colwise() - corner;
      }
      for (Placing& p : placings_) {
        p.scale *= size_factor_;
        p.translate = size_factor_ * p.translate - corner;
      }
    }
    for (const IpcComponent& c : components_) unlifted_.push_back(c.start.col(0));
  }

  void place_mesh_obstacles() {
    for (std::size_t i = 0; i < script_.mesh_obstacles.size(); ++i) {
      const IpcMeshObstacle& obstacle = script_.mesh_obstacles[i];
      const Matrix3X& points = sources_[obstacle_source_[i]].mesh.points;
      const Aabb box = bounding_box(points);
      if (!((box.upper - box.lower).maxCoeff() > 0))
        fail(obstacle.line, "mesh {} has no extent, so it cannot be scaled; use 'shapes' for single points",
             obstacle.path);
      Placing p;
      p.scale = Vector3::Constant(obstacle.scale / (box.upper - box.lower).maxCoeff());
      p.rotate = euler(obstacle.rotate);
      p.translate = obstacle.origin - p.rotate * p.scale.cwiseProduct(points.rowwise().mean());
      obstacle_points_.push_back(((p.rotate * p.scale.asDiagonal()) * points).colwise() + p.translate);
      obstacle_placings_.push_back(p);
    }
  }

  /// What lengths are multiples of: the diagonal of the box around all shapes of tetrahedra.
  void find_scale() {
    Aabb box;
    for (const IpcComponent& c : components_)
      if (c.dimension == 3) box.include(bounding_box(c.rest));
    length_ = box.diagonal();
    if (!(length_ > 0 && length_ < 1e100))
      fail(script_.shapes.front().line, "the shapes are {:.3g} m across; check scales and translations",
           length_);
    // Some scripts have lifted everything.
    for (std::size_t c = 0; c < components_.size(); ++c)
      placings_[c].translate += components_[c].start.col(0) - unlifted_[c];
  }

  JsonValue placing_value(const Placing& p, const Vector3& angles, bool turned) const {
    const bool even = tidy(p.scale[0]) == tidy(p.scale[1]) && tidy(p.scale[0]) == tidy(p.scale[2]);
    return Object()
        .add("scale", even ? number(p.scale[0]) : numbers(p.scale))
        .add("rotate", rotation_value(p.rotate, angles, turned))
        .add("translate", numbers(p.translate))
        .value();
  }

  // ---- choices of points ------------------------------------------------------------------------

  struct Side {
    Vector3 direction;
    bool below;
    double threshold;
    bool holds(const Vector3& p) const {
      const double value = direction.dot(p);
      return below ? value < threshold : value > threshold;
    }
    std::string text() const {
      std::string sum;
      for (int k = 0; k < 3; ++k) {
        const double c = direction[k];
        if (c == 0) continue;
        if (!sum.empty())
          sum += c < 0 ? " - " : " + ";
        else if (c < 0)
          sum += "-";
        if (std::abs(c) != 1) sum += fmt::format("{}*", tidy(std::abs(c)));
        sum += "xyz"[k];
      }
      return fmt::format("{} {} {}", sum, below ? "<" : ">", threshold);
    }
  };

  /// The same cut where the scene is placed, at a number that no rounding of coordinates can carry points
  /// across.
  Side side_of(const IpcCut& cut) const {
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

  struct Chosen {
    std::vector<Index> points;
    JsonValue where;  ///< null if there are no points
  };

  /// An IpcChoice where the scene is placed.
  struct Place {
    std::vector<std::vector<Side>> any_of;
    std::optional<std::pair<std::size_t, Index>> point;  ///< instead: component and index
  };

  Place place_of(const IpcChoice& choice) const {
    Place place{{}, choice.point};
    for (const auto& cuts : choice.any_of) {
      place.any_of.emplace_back();
      for (const IpcCut& cut : cuts) place.any_of.back().push_back(side_of(cut));
    }
    return place;
  }

  Chosen choose(const Place& place, std::size_t component) const {
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
      chosen.where = Object().add("all", JsonValue(true)).value();
      return chosen;
    }
    std::string formula;
    for (const auto& all : sides) {
      std::string part;
      for (const Side& s : all) part += (part.empty() ? "" : " && ") + s.text();
      if (sides.size() > 1 && all.size() > 1) part = "(" + part + ")";
      formula += (formula.empty() ? "" : " || ") + part;
    }
    chosen.where = Object().add("expression", text(formula)).value();
    return chosen;
  }

  static JsonValue indices(const std::vector<Index>& points) {
    JsonValue::Array list;
    for (const Index i : points) list.push_back(number(i));
    return Object().add("indices", JsonValue(std::move(list))).value();
  }

  /// The points of the surface in a box that is relative to the mesh as it is in its file.
  Chosen choose_box(std::size_t component, const Vector3& low, const Vector3& high) const {
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

  /// The box in the world, if the shape is not turned but by quarters and the box chooses the same points.
  std::optional<JsonValue> world_box(std::size_t component, const Vector3& low, const Vector3& high,
                                     const std::vector<Index>& wanted) const {
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
    return Object()
        .add("box", Object()
                        .add("min", numbers(from))
                        .add("max", numbers(to))
                        .add("relative", JsonValue(true))
                        .value())
        .value();
  }

  // ---- motions ----------------------------------------------------------------------------------

  /// Null if nothing moves.
  JsonValue motion(const IpcMovement& movement) const {
    if (movement.pieces.empty()) return {};
    const bool still = std::all_of(movement.pieces.begin(), movement.pieces.end(),
                                   [](const IpcPiece& p) { return p.velocity.isZero(0); });
    if (still && !movement.spin) return {};
    Object result;
    if (!movement.path.empty()) {
      JsonValue::Array frames;
      for (std::size_t k = 0; k <= movement.path.size(); ++k) {
        const double time = double(k) * script_.dt;
        frames.push_back(
            Object()
                .add("t", number(time))
                .add("translate", numbers(k == 0 ? Vector3(Vector3::Zero()) : movement.path[k - 1]))
                .add("rotate", axis_angle(movement.spin->axis, time * movement.spin->rate))
                .value());
      }
      result.add("keyframes", JsonValue(std::move(frames)));
    } else if (movement.pieces.size() == 1) {
      const Vector3& v = movement.pieces[0].velocity;
      if (!still) result.add("translate", JsonValue(JsonValue::Array{way(v[0]), way(v[1]), way(v[2])}));
      if (movement.spin)
        result.add("rotate", Object()
                                 .add("axis", numbers(movement.spin->axis))
                                 .add("angle", way(movement.spin->rate))
                                 .value());
    } else {
      JsonValue::Array frames;
      Vector3 shift = Vector3::Zero();
      double angle = 0;
      const double end = double(ipc_steps(script_)) * script_.dt;
      const auto add_frame = [&](double time) {
        Object frame;
        frame.add("t", number(time));
        if (!still) frame.add("translate", numbers(shift));
        if (movement.spin) frame.add("rotate", axis_angle(movement.spin->axis, angle));
        frames.push_back(frame.value());
      };
      for (std::size_t i = 0; i < movement.pieces.size(); ++i) {
        const IpcPiece& piece = movement.pieces[i];
        add_frame(piece.time);
        const double next = i + 1 < movement.pieces.size() ? movement.pieces[i + 1].time : end;
        shift += (next - piece.time) * piece.velocity;
        if (movement.spin && piece.spins) angle += (next - piece.time) * movement.spin->rate;
      }
      const IpcPiece& last = movement.pieces.back();
      if (last.time < end && (!last.velocity.isZero(0) || (movement.spin && last.spins))) add_frame(end);
      result.add("keyframes", JsonValue(std::move(frames)));
    }
    if (movement.spin) result.add("center", numbers(movement.spin->center));
    return result.value();
  }

  /// Constant speed. Each step of the reference turns about the centre of the bounding box as it is then;
  /// unless the points lie symmetrically, that centre wanders.
  IpcMovement steady(const Vector3& velocity, const Vector3& angular_velocity, const Matrix3X& points,
                     const IpcTimeRange& range = {}) const {
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

  static void add_range(Object& object, const IpcTimeRange& a, const IpcTimeRange& b) {
    const double from = std::max(a.from, b.from), until = std::min(a.until, b.until);
    if (from > 0) object.add("from", number(from));
    if (until < 1e300) object.add("until", number(until));
  }

  // ---- bodies -----------------------------------------------------------------------------------

  std::string fresh_name(const std::string& path, bool alone) {
    const std::string stem = fs::path(path).stem().string();
    std::string base;
    for (const char c : stem) base += c == '*' || c == '[' || c == ']' ? '_' : c;
    std::string result = base;
    if (!alone || names_.contains(result))
      for (int i = 1; result = fmt::format("{}_{}", base, i), names_.contains(result); ++i) {
      }
    names_.insert(result);
    return result;
  }

  /// How many bodies come from meshes of that name.
  std::size_t namesakes(const std::string& path) const {
    const fs::path stem = fs::path(path).stem();
    const auto same = [&](const auto& thing) { return fs::path(thing.path).stem() == stem; };
    return std::size_t(std::count_if(script_.shapes.begin(), script_.shapes.end(), same) +
                       std::count_if(script_.mesh_obstacles.begin(), script_.mesh_obstacles.end(), same));
  }

  JsonValue mesh_value(const Source& source) const {
    if (!source.written_out) return Object().add("file", path_value(source.file)).value();
    JsonValue::Array points;
    for (Index i = 0; i < source.mesh.points.cols(); ++i)
      points.push_back(numbers(source.mesh.points.col(i)));
    Object mesh;
    mesh.add("points", JsonValue(std::move(points)));
    if (source.mesh.edges.cols() > 0) {
      JsonValue::Array edges;
      for (Index e = 0; e < source.mesh.edges.cols(); ++e)
        edges.push_back(
            JsonValue(JsonValue::Array{number(source.mesh.edges(0, e)), number(source.mesh.edges(1, e))}));
      mesh.add("segments", JsonValue(std::move(edges)));
    }
    return mesh.value();
  }

  JsonValue material(const IpcShape& shape) const {
    const IpcMaterial& m = shape.material ? *shape.material : script_.material;
    return Object()
        .add("type",
             text(script_.energy == IpcScript::Energy::neo_hookean ? "neo_hookean" : "fixed_corotated"))
        .add("E", number(m.young))
        .add("nu", number(m.poisson))
        .add("rho", number(m.density))
        .value();
  }

  void add_shapes(JsonValue::Array& bodies) {
    std::size_t c = 0;
    for (std::size_t s = 0; s < script_.shapes.size(); ++s) {
      const IpcShape& shape = script_.shapes[s];
      const std::size_t copies = std::size_t(shape.counts.prod());
      const bool alike = copies > 1 && can_be_array(c, copies);
      if (alike) {
        bodies.push_back(body(c, fresh_name(shape.path, namesakes(shape.path) == 1), true));
      } else {
        for (std::size_t i = 0; i < copies; ++i)
          bodies.push_back(
              body(c + i, fresh_name(shape.path, copies == 1 && namesakes(shape.path) == 1), false));
      }
      c += copies;
    }
  }

  /// Whether the components from `first` on differ by their place alone.
  bool can_be_array(std::size_t first, std::size_t count) const {
    if (turned_ || !staging_.pushes.empty() || !staging_.handles.empty()) return false;
    if (staging_.follows_folder && components_[first].dimension < 3) return false;
    const auto velocity = [&](std::size_t c) {
      const auto found = staging_.initial_velocity.find(c);
      return found == staging_.initial_velocity.end() ? Vector3(Vector3::Zero()) : found->second;
    };
    const std::string how = flat_text(whole_motion(first));
    for (std::size_t c = first; c < first + count; ++c) {
      const auto moving = staging_.components.find(c);
      if (moving != staging_.components.end() && moving->second.spin)
        return false;  // each about its own centre
      if (flat_text(whole_motion(c)) != how || velocity(c) != velocity(first)) return false;
    }
    return true;
  }

  int shape_dimension(std::size_t shape) const { return sources_[shape_source_[shape]].dimension; }

  Vector3 center_of(std::size_t component) const {
    return bounding_box(components_[component].start).centre();
  }

  /// The centre of mass of a body of tetrahedra.
  Vector3 mass_center(std::size_t component) const {
    const Matrix3X& x = components_[component].start;
    const Tetrahedra& tetrahedra = sources_[shape_source_[components_[component].shape]].mesh.tetrahedra;
    Vector3 sum = Vector3::Zero();
    double volume = 0;
    for (Index t = 0; t < tetrahedra.cols(); ++t) {
      const auto corner = [&](int k) -> Vector3 { return x.col(tetrahedra(k, t)); };
      const double v = std::abs(signed_volume6(corner(0), corner(1), corner(2), corner(3)));
      sum += v * 0.25 * (corner(0) + corner(1) + corner(2) + corner(3));
      volume += v;
    }
    return sum / volume;
  }

  JsonValue body(std::size_t component, const std::string& name, bool array) {
    const IpcComponent& c = components_[component];
    const IpcShape& shape = script_.shapes[c.shape];
    const Source& source = sources_[shape_source_[c.shape]];
    const bool options = staging_.uses_shape_options;
    const bool volume = c.dimension == 3;
    const bool sequence = (options && !shape.sequence.empty()) || leads_folder(component);
    Object result;
    result.add("type", text(volume && !sequence ? "volume" : "obstacle")).add("name", text(name));
    if (sequence) {
      add_sequence(result, component);
      return at_line(shape.line, result.value());
    }
    result.add("mesh", mesh_value(source));
    result.add("transform", placing_value(placings_[component], shape.rotate, turned_));
    if (array) {
      result.add("array", Object()
                              .add("counts", numbers(shape.counts.cast<double>()))
                              .add("spacing", numbers((script_.size > 0 ? size_factor_ : 1) * shape.spacing))
                              .value());
    }
    JsonValue whole = whole_motion(component);
    const bool scripted =
        (options && (shape.velocity || shape.angular_velocity)) || staging_.components.contains(component);
    if (!volume) {
      if (options) whole = merge_dirichlet(component, std::move(whole));
      if (!whole.is_null()) result.add("motion", std::move(whole));
      return at_line(shape.line, result.value());
    }
    result.add("material", material(shape));
    if (!scripted) add_initial_velocity(result, component);
    JsonValue::Array fixed;
    if (!whole.is_null())
      result.add("motion", std::move(whole));
    else if (scripted)
      fixed.push_back(Object().add("where", Object().add("all", JsonValue(true)).value()).value());
    add_handles(fixed, component);
    if (options && !scripted) add_dirichlet(fixed, component);
    if (!fixed.empty()) result.add("fixed", JsonValue(std::move(fixed)));
    JsonValue::Array loads;
    add_loads(loads, component);
    if (!loads.empty()) result.add("loads", JsonValue(std::move(loads)));
    if (const double damping = damping_time(); damping > 0)
      result.add("damping", Object().add("stiffness", number(damping)).value());
    return at_line(shape.line, result.value());
  }

  /// Of a component that its shape's options or the named script move as a whole; null if it does not move.
  JsonValue whole_motion(std::size_t component) const {
    const IpcShape& shape = script_.shapes[components_[component].shape];
    if (staging_.uses_shape_options && (shape.velocity || shape.angular_velocity))
      return motion(steady(shape.velocity.value_or(Vector3::Zero()),
                           shape.angular_velocity.value_or(Vector3::Zero()), components_[component].start));
    const auto found = staging_.components.find(component);
    return found == staging_.components.end() ? JsonValue() : motion(found->second);
  }

  /// Obstacles move as a whole or not at all.
  JsonValue merge_dirichlet(std::size_t component, JsonValue whole) const {
    const IpcShape& shape = script_.shapes[components_[component].shape];
    for (const IpcDirichlet& d : shape.dirichlet) {
      const Chosen chosen = choose_box(component, d.low, d.high);
      if (chosen.points.empty() || (d.velocity.isZero(0) && d.angular_velocity.isZero(0))) continue;
      const bool always = d.range.from <= 0 && d.range.until >= 1e300 && script_.dirichlet_range.from <= 0 &&
                          script_.dirichlet_range.until >= 1e300;
      if (Index(chosen.points.size()) < components_[component].start.cols() || !always || !whole.is_null())
        fail(d.line,
             "this DBC moves a part of a shape without tetrahedra, or for a part of the time; such a shape "
             "moves as a whole, with linearVelocity, angularVelocity or meshSeq");
      whole = motion(steady(d.velocity, d.angular_velocity, components_[component].start));
    }
    return whole;
  }

  void add_initial_velocity(Object& result, std::size_t component) const {
    const IpcShape& shape = script_.shapes[components_[component].shape];
    if (const auto found = staging_.initial_velocity.find(component);
        found != staging_.initial_velocity.end())
      result.add("velocity", numbers(found->second));
    if (!staging_.uses_shape_options || !shape.initial_velocity) return;
    // The reference turns about the centre of the bounding box, this program about the centre of mass.
    const Vector3 omega = *shape.initial_angular_velocity;
    const Vector3 arm = mass_center(component) - center_of(component);
    Vector3 velocity = *shape.initial_velocity;
    if (arm.norm() > 1e-9 * bounding_box(components_[component].start).diagonal())
      velocity += (degrees * omega).cross(arm);
    result.add("velocity", numbers(velocity)).add("angular_velocity", numbers(omega));
  }

  void add_handles(JsonValue::Array& fixed, std::size_t component) const {
    for (std::size_t h = 0; h < staging_.handles.size(); ++h) {
      const IpcHandle& handle = staging_.handles[h];
      Chosen chosen = choose(handle_places_[h], component);
      if (chosen.points.empty()) continue;
      Object entry;
      entry.add("where", std::move(chosen.where));
      if (JsonValue how = motion(handle.movement); !how.is_null()) entry.add("motion", std::move(how));
      if (handle.until < infinity) entry.add("until", number(handle.until));
      fixed.push_back(at_line(script_.script_line, entry.value()));
    }
  }

  void add_dirichlet(JsonValue::Array& fixed, std::size_t component) {
    const IpcShape& shape = script_.shapes[components_[component].shape];
    struct Earlier {
      const IpcDirichlet* condition;
      std::vector<Index> points;
    };
    std::vector<Earlier> earlier;
    for (const IpcDirichlet& d : shape.dirichlet) {
      Chosen chosen = choose_box(component, d.low, d.high);
      if (chosen.points.empty()) {
        note(d.line, "this DBC chooses no points; it has no effect");
        continue;
      }
      for (const Earlier& e : earlier) {
        std::vector<Index> common;
        std::set_intersection(e.points.begin(), e.points.end(), chosen.points.begin(), chosen.points.end(),
                              std::back_inserter(common));
        const bool together =
            e.condition->range.from < d.range.until && d.range.from < e.condition->range.until;
        const bool equal =
            e.condition->velocity == d.velocity && e.condition->angular_velocity == d.angular_velocity;
        if (!common.empty() && together && !equal)
          fail(d.line,
               "this DBC and the one in line {} choose {} points both, for the same time, and move them "
               "differently; make their boxes or times disjoint",
               e.condition->line, common.size());
      }
      const Matrix3X points = components_[component].start(Eigen::all, chosen.points);
      Object entry;
      entry.add("where", std::move(chosen.where));
      if (JsonValue how = motion(steady(d.velocity, d.angular_velocity, points, d.range)); !how.is_null())
        entry.add("motion", std::move(how));
      add_range(entry, d.range, script_.dirichlet_range);
      fixed.push_back(at_line(d.line, entry.value()));
      earlier.push_back({&d, std::move(chosen.points)});
    }
  }

  void add_loads(JsonValue::Array& loads, std::size_t component) {
    for (std::size_t p = 0; p < staging_.pushes.size(); ++p) {
      const IpcPush& push = staging_.pushes[p];
      Chosen chosen = choose(push_places_[p], component);
      if (chosen.points.empty()) continue;
      loads.push_back(
          at_line(script_.script_line, body_force(std::move(chosen.where), push.acceleration).value()));
    }
    for (const IpcNeumann& n : script_.shapes[components_[component].shape].neumann) {
      Chosen chosen = choose_box(component, n.low, n.high);
      if (chosen.points.empty()) {
        note(n.line, "this NBC chooses no points; it has no effect");
        continue;
      }
      Object load = body_force(std::move(chosen.where), n.acceleration);
      add_range(load, n.range, script_.neumann_range);
      loads.push_back(at_line(n.line, load.value()));
    }
  }

  static Object body_force(JsonValue where, const Vector3& acceleration) {
    Object load;
    load.add("type", text("body_force"))
        .add("where", std::move(where))
        .add("acceleration", numbers(acceleration));
    return load;
  }

  /// The time that multiplies the stiffness matrix. The reference adds k/(2 dt) Δx·K·Δx to an incremental
  /// potential in which the elastic energy counts dt² (Euler) or beta dt² (Newmark); a force -τ K v, with v =
  /// Δx/dt, has the potential τ/(2 dt) Δx·K·Δx before it is multiplied alike.
  double damping_time() const {
    const double dt = script_.dt;
    const double k =
        script_.damping_ratio > 0 ? 0.75 * script_.damping_ratio * dt * dt * dt : script_.damping_stiffness;
    return k / (dt * dt * (script_.newmark ? script_.beta : 1));
  }

  // ---- sequences --------------------------------------------------------------------------------

  bool leads_folder(std::size_t component) const {
    if (!staging_.follows_folder) return false;
    for (std::size_t c = 0; c < components_.size(); ++c)
      if (components_[c].dimension < 3) return c == component;
    return false;
  }

  /// Files hold positions in the world, so that the body is its first file, where that puts it.
  void add_sequence(Object& result, std::size_t component) {
    const IpcComponent& c = components_[component];
    const IpcShape& shape = script_.shapes[c.shape];
    const bool named = leads_folder(component);
    const std::string& folder = named ? script_.script_folder : shape.sequence;
    const int line = named ? script_.script_line : shape.line;
    const auto found = find(folder);
    std::error_code error;
    if (!found || !fs::is_directory(*found, error))
      fail(line, "folder {} not found; it is looked for in the script's folder and those above it", folder);
    static constexpr std::string_view own[] = {".pt", ".seg", ".obj", ".msh"};
    std::string extension(named ? ".obj" : own[c.dimension]);
    const auto file = [&](Index number) { return *found / fmt::format("{}{}", number, extension); };
    if (!fs::exists(file(0), error) && c.dimension < 2) extension = ".obj";
    if (!fs::exists(file(0), error))
      fail(line, "{} is missing; a sequence begins with the shape as it starts", file(0).string());
    Index count = 1;
    while (count <= ipc_steps(script_) && fs::exists(file(count), error)) ++count;
    const Mesh first = extension == ".pt" ? read_obj(file(0)) : read_mesh(file(0));
    if (first.points.cols() != c.start.cols())
      fail(line, "{} has {} points, the shape {}; they must be the same points", file(0).string(),
           first.points.cols(), c.start.cols());
    if ((first.points - c.start).colwise().norm().maxCoeff() > 1e-4 * bounding_box(c.start).diagonal())
      fail(line, "{} is not where the shape starts; a sequence begins with the shape as it starts",
           file(0).string());
    if (extension != ".seg" && c.dimension < 2) {
      Source source{file(0), only(first, -1), c.dimension, true};
      if (c.dimension == 1) source.mesh.edges = edges_of(first.faces);
      result.add("mesh", mesh_value(source));
    } else {
      result.add("mesh", Object().add("file", path_value(file(0))).value());
    }
    const std::string pattern = std::get<std::string>(path_value(*found / "{}").data) + extension;
    result.add("sequence", Object()
                               .add("files", text(pattern))
                               .add("first", number(0))
                               .add("count", number(count))
                               .add("dt", number(script_.dt))
                               .value());
  }

  // ---- other obstacles --------------------------------------------------------------------------

  struct Friction {
    std::string body;
    double coefficient;
  };

  void add_mesh_obstacles(JsonValue::Array& bodies) {
    for (std::size_t i = 0; i < script_.mesh_obstacles.size(); ++i) {
      const IpcMeshObstacle& obstacle = script_.mesh_obstacles[i];
      const std::string name = fresh_name(obstacle.path, namesakes(obstacle.path) == 1);
      Object result;
      result.add("type", text("obstacle")).add("name", text(name));
      result.add("mesh", mesh_value(sources_[obstacle_source_[i]]));
      result.add("transform", placing_value(obstacle_placings_[i], obstacle.rotate, false));
      if (const auto found = staging_.mesh_obstacles.find(i); found != staging_.mesh_obstacles.end())
        if (JsonValue how = motion(found->second); !how.is_null()) result.add("motion", std::move(how));
      bodies.push_back(at_line(obstacle.line, result.value()));
      frictions_.push_back({name, obstacle.friction});
      if (obstacle.friction > 0)
        note(obstacle.line,
             fmt::format("the friction of this meshCO, {:g}, acts here; the reference reads it but "
                         "computes none: write 0 to have the same motion",
                         obstacle.friction));
    }
  }

  void add_half_spaces(JsonValue::Array& bodies) {
    const auto grounds = std::count_if(script_.half_spaces.begin(), script_.half_spaces.end(),
                                       [](const IpcHalfSpace& h) { return h.ground; });
    for (std::size_t i = 0; i < script_.half_spaces.size(); ++i) {
      const IpcHalfSpace& h = script_.half_spaces[i];
      const bool alone = (h.ground ? grounds : Index(script_.half_spaces.size()) - grounds) == 1;
      const std::string name = fresh_name(h.ground ? "ground" : "half_space", alone);
      const auto moving = staging_.half_spaces.find(i);
      Object result;
      result.add("type", text("half_space")).add("name", text(name));
      result.add("origin", numbers(h.origin)).add("normal", numbers(h.normal));
      if (moving != staging_.half_spaces.end())
        if (JsonValue how = motion(moving->second); !how.is_null()) result.add("motion", std::move(how));
      bodies.push_back(at_line(h.line, result.value()));
      frictions_.push_back({name, h.friction});
    }
  }

  // ---- settings ---------------------------------------------------------------------------------

  JsonValue time() const {
    Object result;
    result.add("dt", number(script_.dt)).add("tend", number(script_.duration));
    result.add("integrator", text(script_.newmark ? "newmark" : "implicit_euler"));
    if (script_.newmark) result.add("beta", number(script_.beta)).add("gamma", number(script_.gamma));
    return result.value();
  }

  /// dhat and epsv begin at one value and are lowered to another: what counts is the smaller.
  double tuned(std::size_t first) const {
    double value = 1e-3;
    if (script_.tuning.size() > first) value = std::min(script_.tuning[first], 1e-3);
    if (script_.tuning.size() > first + 1) value = std::min(script_.tuning[first], script_.tuning[first + 1]);
    return value * (script_.absolute_parameters ? 1 : length_);
  }

  JsonValue contact() const {
    Object result;
    result.add("dhat", number(tuned(1))).add("barrier_stiffness", text("adaptive"));
    result.add("friction_coefficient", number(script_.self_friction)).add("epsv", number(tuned(4)));
    result.add("friction_iterations", number(std::max(0, script_.friction_iterations)));
    JsonValue::Array pairs;
    const auto names = [](std::string_view a, std::string_view b) {
      return JsonValue(JsonValue::Array{text(a), text(b)});
    };
    if (!script_.self_collision)
      pairs.push_back(Object().add("bodies", names("*", "*")).add("enabled", JsonValue(false)).value());
    for (const Friction& f : frictions_)
      pairs.push_back(Object()
                          .add("bodies", names(f.body, "*"))
                          .add("enabled", JsonValue(true))
                          .add("friction_coefficient", number(f.coefficient))
                          .value());
    if (!pairs.empty()) result.add("pairs", JsonValue(std::move(pairs)));
    return result.value();
  }

  JsonValue solver() const {
    Object result;
    result.add("tolerance",
               number((script_.tolerances.empty() ? 1e-2 : script_.tolerances.back()) * length_));
    result.add("termination", text("infinity_norm"));
    if (script_.tight_inclusion) result.add("ccd", text("tight_inclusion"));
    return result.value();
  }

  /// The reference writes at most 100 states a second.
  JsonValue output() const {
    return Object().add("every", number(std::max(1.0, std::round(0.01 / script_.dt)))).value();
  }

  void report_unused() {
    if (!script_.tuning.empty() && script_.tuning[0] != 0)
      note(1, fmt::format(
                  "the barrier stiffness {:g} of 'tuning' has no effect here: it follows from the forces",
                  script_.tuning[0]));
    if (script_.tolerances.size() > 1 &&
        std::any_of(script_.tolerances.begin(), script_.tolerances.end(),
                    [&](double t) { return t != script_.tolerances.back(); }))
      note(1,
           fmt::format("'tol' gives some steps tolerances of their own; here the last, {:g}, holds for all",
                       script_.tolerances.back()));
    if (staging_.uses_shape_options) return;
    for (const IpcShape& shape : script_.shapes) {
      const auto unused = [&](std::string_view option) {
        note(shape.line, fmt::format("'{}' has no effect with script '{}'", option, script_.script));
      };
      if (shape.velocity &&
          (!shape.velocity->isZero(0) || shape_dimension(std::size_t(&shape - script_.shapes.data())) == 3))
        unused("linearVelocity");
      if (shape.angular_velocity) unused("angularVelocity");
      if (shape.initial_velocity) unused("initVel");
      if (!shape.dirichlet.empty()) unused("DBC");
      if (!shape.sequence.empty()) unused("meshSeq");
    }
  }

  IpcScript script_;
  fs::path directory_;
  std::shared_ptr<const std::string> place_;
  std::string name_;
  std::vector<std::string> notes_;
  std::vector<Source> sources_;
  std::vector<std::size_t> shape_source_, obstacle_source_;  ///< indices into sources_
  std::vector<IpcComponent> components_;
  std::vector<Placing> placings_;  ///< of components
  std::vector<Vector3> unlifted_;  ///< first point of each component before the script
  IpcPoints obstacle_points_;
  std::vector<Placing> obstacle_placings_;
  bool turned_ = false;  ///< by rotateModel
  Matrix3 turn_ = Matrix3::Identity();
  double size_factor_ = 1;
  double length_ = 0;  ///< [m]
  IpcStaging staging_;
  std::vector<Place> handle_places_, push_places_;
  std::set<std::string> names_;
  std::vector<Friction> frictions_;
};

void append(std::string& out, const JsonValue& value, std::size_t indent, std::size_t used) {
  constexpr std::size_t width = 110;
  const std::string flat = flat_text(value);
  const auto* items = value.get_if<JsonValue::Array>();
  const auto* members = value.get_if<JsonValue::Object>();
  const bool plain = items && std::none_of(items->begin(), items->end(), [](const JsonValue& v) {
                       return v.get_if<JsonValue::Array>() || v.get_if<JsonValue::Object>();
                     });
  if ((!items && !members) || plain || (indent > 0 && used + flat.size() <= width)) {
    out += flat;
    return;
  }
  const std::string margin(indent + 2, ' ');
  out += items ? "[" : "{";
  const std::size_t count = items ? items->size() : members->size();
  for (std::size_t i = 0; i < count; ++i) {
    out += (i > 0 ? ",\n" : "\n") + margin;
    std::size_t column = margin.size();
    if (members) {
      const std::string key = flat_text(JsonValue((*members)[i].first)) + ": ";
      out += key;
      column += key.size();
    }
    append(out, items ? (*items)[i] : (*members)[i].second, indent + 2, column + 1);
  }
  out += "\n" + std::string(indent, ' ') + (items ? "]" : "}");
}

}  // namespace

ImportedScene import_ipc_script(const fs::path& file, const fs::path& directory) {
  return Importer(file, directory).import();
}

std::string readable_text(const JsonValue& scene) {
  std::string out;
  append(out, scene, 0, 0);
  return out + "\n";
}

}  // namespace apart
