#pragma once
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace apart::test {

/// A scene that abuses the solver: random bodies, materials from foam to steel, speeds to 1000 m/s, steps
/// from 0.1 ms to 1 s, presses that squeeze to a hundredth. The same for the same seed on every machine.
class RandomScene {
 public:
  explicit RandomScene(std::uint32_t seed) : engine_(seed) {}

  nlohmann::ordered_json make() {
    nlohmann::ordered_json scene;
    const double dt = log_uniform(1e-4, 1);
    scene["version"] = 1;
    scene["time"] = {{"dt", dt}, {"steps", 20}};
    if (chance(0.2)) scene["gravity"] = {0, 0, 0};
    const bool squeezed = chance(0.3);
    auto& bodies = scene["bodies"];
    const int count = 2 + choose(4);
    for (int i = 0; i < count; ++i) bodies.push_back(body(i, squeezed));
    if (squeezed)
      add_press(bodies, 20 * dt);
    else if (chance(0.7))
      bodies.push_back({{"type", "half_space"}, {"name", "floor"}, {"origin", {0, lowest_ - 0.02, 0}}});
    scene["contact"]["friction_coefficient"] = chance(0.3) ? 0.0 : uniform(0, 1);
    if (chance(0.2)) scene["contact"]["thickness"] = "1e-4 L";
    // Presses that close on steel within milliseconds take thousands; the point is that none hangs.
    scene["solver"]["max_iterations"] = 10000;
    scene["output"]["every"] = 1;
    return scene;
  }

 private:
  double uniform(double low, double high) { return low + (high - low) * (engine_() / 4294967296.0); }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  bool chance(double p) { return uniform(0, 1) < p; }
  int choose(int n) { return int(uniform(0, n)); }

  /// A shape and the radius of a ball around it [m].
  std::pair<nlohmann::ordered_json, double> shape(bool affine) {
    switch (choose(affine ? 3 : 5)) {
      case 0: {
        const double x = uniform(0.1, 0.4), y = uniform(0.1, 0.4), z = uniform(0.1, 0.4);
        const int n = affine ? 1 : 1 + choose(3);
        return {{{"generator", "box"}, {"size", {x, y, z}}, {"cells", n}},
                0.5 * std::sqrt(x * x + y * y + z * z)};
      }
      case 1: {
        const double r = uniform(0.08, 0.2);
        return {{{"generator", "sphere"}, {"radius", r}, {"resolution", 1 + choose(2)}}, r};
      }
      case 2: {
        const double major = uniform(0.1, 0.2), minor = uniform(0.03, 0.4 * major);
        return {{{"generator", "torus"},
                 {"major", major},
                 {"minor", minor},
                 {"ring_cells", 8},
                 {"tube_cells", 5}},
                major + minor};
      }
      case 3: {
        const double length = uniform(0.2, 0.6), thickness = uniform(0.01, 0.05);
        return {
            {{"generator", "rod"}, {"length", length}, {"thickness", thickness}, {"cells", 4 + choose(8)}},
            0.5 * length + thickness};
      }
      default: {
        const double width = uniform(0.2, 0.5);
        return {{{"generator", "mat"},
                 {"width", width},
                 {"thickness", uniform(0.005, 0.03)},
                 {"cells", 3 + choose(5)}},
                0.75 * width};
      }
    }
  }

  nlohmann::ordered_json body(int index, bool squeezed) {
    const bool affine = !squeezed && chance(0.25);
    auto [mesh, radius] = shape(affine);
    // A free place near the others.
    double x = 0, y = 0, z = 0;
    for (double spread = 0.3;; spread *= 1.05) {
      x = uniform(-spread, spread), y = uniform(-spread, spread), z = uniform(-spread, spread);
      bool free = true;
      for (const auto& b : balls_) {
        const double d = std::hypot(x - b[0], y - b[1], z - b[2]);
        free = free && d > 1.02 * (radius + b[3]);
      }
      if (free) break;
    }
    balls_.push_back({x, y, z, radius});
    lowest_ = std::min(lowest_, y - radius);
    highest_ = std::max(highest_, y + radius);
    widest_ = std::max({widest_, std::abs(x) + radius, std::abs(z) + radius});

    nlohmann::ordered_json b;
    b["type"] = affine ? "affine" : "volume";
    b["name"] = "body" + std::to_string(index);
    b["mesh"] = mesh;
    b["transform"] = {{"rotate", {uniform(-180, 180), uniform(-180, 180), uniform(-180, 180)}},
                      {"translate", {x, y, z}}};
    const double rho = log_uniform(10, 1e4), E = log_uniform(1e3, 1e11);
    if (affine)
      b["material"] = {{"type", "orthogonality"}, {"stiffness", std::max(1e6, E)}, {"rho", rho}};
    else
      b["material"] = {{"type", chance(0.8) ? "neo_hookean" : "fixed_corotated"},
                       {"E", E},
                       {"nu", uniform(0, 0.49)},
                       {"rho", rho}};
    if (!squeezed && chance(0.7)) {  // at the others, roughly
      const double speed = log_uniform(0.1, 1000), norm = std::max(0.1, std::hypot(x, y, z));
      b["velocity"] = {-speed * x / norm, -speed * y / norm, -speed * z / norm};
      if (chance(0.3)) b["angular_velocity"] = {uniform(-360, 360), uniform(-360, 360), uniform(-360, 360)};
    }
    return b;
  }

  /// Two plates that close over everything, to between a half and a hundredth of their distance, until
  /// `time`.
  void add_press(nlohmann::ordered_json& bodies, double time) {
    const double gap = highest_ - lowest_ + 0.04, final = gap * log_uniform(0.01, 0.5);
    const double size = 2 * widest_ + 0.2;
    for (const int side : {-1, 1}) {
      const double y = side < 0 ? lowest_ - 0.02 : highest_ + 0.02;
      bodies.push_back(
          {{"type", "obstacle"},
           {"name", side < 0 ? "lower press" : "upper press"},
           {"mesh", {{"generator", "grid"}, {"size", {size, size}}, {"cells", {2, 2}}}},
           {"transform", {{"translate", {0, y, 0}}}},
           {"motion",
            {{"keyframes",
              {{{"t", 0}}, {{"t", time}, {"translate", {0, -side * 0.5 * (gap - final), 0}}}}}}}});
    }
  }

  std::mt19937 engine_;
  std::vector<std::array<double, 4>> balls_;  ///< around the bodies placed so far: centre and radius
  double lowest_ = 1e9, highest_ = -1e9, widest_ = 0;
};

}  // namespace apart::test
