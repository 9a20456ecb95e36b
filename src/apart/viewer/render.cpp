#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/fine_shapes.hpp>
#include <apart/viewer/hiding_obstacles.hpp>
#include <apart/viewer/legend.hpp>
#include <apart/viewer/point_colours.hpp>
#include <apart/viewer/point_field.hpp>
#include <apart/viewer/ray_scene.hpp>
#include <apart/viewer/render.hpp>
#include <apart/viewer/render_checks.hpp>
#include <apart/viewer/samples.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

// Lengths are in the picture's own units (see Normalization); colours and light are linear.
constexpr float surface_offset =
    2e-4f;  // where secondary rays start, so that they do not hit their own surface
constexpr float pi = std::numbers::pi_v<float>;

Vector3f mix(const Vector3f& a, const Vector3f& b, float t) {
  return (1 - t) * a + t * b;
}

float smooth_step(float from, float to, float x) {
  const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

/// A direction around the unit vector n, denser towards it (cosine).
Vector3f around(const Vector3f& n, float u, float v) {
  const Vector3f a = n.unitOrthogonal(), b = n.cross(a);
  const float r = std::sqrt(u), angle = 2 * pi * v;
  return r * std::cos(angle) * a + r * std::sin(angle) * b + std::sqrt(std::max(0.0f, 1 - u)) * n;
}

/// A half-space's boundary.
struct Ground {
  Vector3f origin, normal;

  /// Distance along a ray that comes from outside.
  std::optional<float> hit(const Vector3f& from, const Vector3f& direction) const {
    const float speed = normal.dot(direction);
    if (speed > -1e-6f) return std::nullopt;
    const float t = normal.dot(origin - from) / speed;
    if (t <= 0) return std::nullopt;
    return t;
  }
};

class Picture {
 public:
  Picture(const Frame& frame, const RenderOptions& options)
      : options_(options),
        camera_(chosen_camera(frame, options)),
        normalization_{camera_.target, camera_.scene_size},
        shapes_(shapes_of(frame, normalization_, point_colours(frame, options.colouring))),
        eye_(normalization_(camera_.eye)),
        up_(camera_.up.normalized().cast<float>()),
        half_height_(std::tan(float(camera_.field_of_view) * pi / 360)),
        solid_((prepare(frame), make_scene(false))),
        glass_(make_scene(true)) {
    forward_ = (-eye_).normalized();  // the target is the origin
    right_ = forward_.cross(up_).normalized();
    above_ = right_.cross(forward_);
    // The lamp: high, to the left of and behind the camera, so that shadows fall to the right and stay
    // visible.
    const Vector3f back = (-forward_ - up_ * up_.dot(-forward_)).normalized();
    lamp_ = (0.75f * up_ - 0.55f * right_ + 0.42f * back).normalized();
    lamp_side_ = lamp_.unitOrthogonal();
    lamp_top_ = lamp_.cross(lamp_side_);
    make_grounds(frame);
  }

  Image draw() const {
    const int width = options_.width, height = options_.height;
    std::vector<Pixel> pixels(std::size_t(width) * std::size_t(height));
    parallel_for(
        height,
        [&](Index y) {
          for (int x = 0; x < width; ++x)
            pixels[std::size_t(y) * std::size_t(width) + std::size_t(x)] = pixel(x, y);
        },
        4);
    Image image{width, height, {}};
    image.rgb.resize(3 * pixels.size());
    parallel_for(
        height,
        [&](Index y) {
          for (int x = 0; x < width; ++x) {
            const Vector3f colour = smoothed(pixels, x, y);
            const std::size_t at = 3 * (std::size_t(y) * std::size_t(width) + std::size_t(x));
            for (std::size_t k = 0; k < 3; ++k) image.rgb[at + k] = encoded(colour[Index(k)]);
          }
        },
        4);
    return image;
  }

 private:
  /// What one ray sees: its light, and what the light comes from.
  struct Seen {
    Vector3f light, colour, normal;
  };

  /// The mean of a pixel's rays.
  struct Pixel {
    Vector3f light = Vector3f::Zero(), colour = Vector3f::Zero(), normal = Vector3f::Zero();
    float brightness = 0;  ///< about as the eye sees it, 0 to 1
    float variance = 0;    ///< of that mean
  };

  /// Decides which obstacles are glass, and gives all shapes the surfaces that are drawn.
  void prepare(const Frame& frame) {
    const std::vector<int> glass =
        options_.surroundings ? options_.surroundings->glass : hiding_obstacles(shapes_, eye_);
    for (const Shape& shape : shapes_) is_glass_.push_back(std::ranges::count(glass, shape.body) > 0);
    const float pixel = 2 * half_height_ * eye_.norm() / float(options_.height);
    round_shapes(shapes_, frame, normalization_, pixel);
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      Shape& shape = shapes_[i];
      const std::string& kind = frame.bodies[std::size_t(shape.body)].kind;
      const bool solid = kind == "volume" || kind == "invertible_volume";
      // Walls of glass have one layer only.
      if (shape.radius > 0.2f * pixel && !is_glass_[i]) thicken(shape, !solid);
      // What is thinner than a pixel or two could not be seen otherwise.
      shape.radius = std::max(shape.radius, (shape.balls.size() > 0 ? 1.2f : 0.7f) * pixel);
    }
  }

  RayScene make_scene(bool glass) const {
    std::vector<const Shape*> chosen;
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      if (bool(is_glass_[i]) == glass) chosen.push_back(&shapes_[i]);
    return RayScene(chosen);
  }

  void make_grounds(const Frame& frame) {
    for (const HalfSpace& plane : frame.half_spaces)
      if (std::ranges::count(frame.absent, plane.body) == 0)
        grounds_.push_back(
            {normalization_(plane.origin_at(frame.mesh.points)), plane.normal.normalized().cast<float>()});
    // Grid lines at a round distance, some six of them across the scene.
    const double wanted = camera_.scene_size / 6;
    const double decade = std::pow(10.0, std::floor(std::log10(wanted)));
    const double factor = wanted / decade < 2 ? 1 : wanted / decade < 5 ? 2 : 5;
    grid_ = float(factor * decade / camera_.scene_size);
  }

  Pixel pixel(int x, int y) const {
    const Samples samples(x, y);
    Pixel mean;
    float squares = 0;
    for (int s = 0; s < options_.samples; ++s) {
      const Seen seen = see(view_ray(x, y, samples, s), samples, s);
      mean.light += seen.light;
      mean.colour += seen.colour;
      mean.normal += seen.normal;
      const float brightness = std::sqrt(seen.light.sum() / 3);
      mean.brightness += brightness;
      squares += brightness * brightness;
    }
    const float n = float(options_.samples);
    mean.light /= n;
    mean.colour /= n;
    mean.normal /= n;
    mean.brightness /= n;
    mean.variance = std::max(0.0f, squares / n - mean.brightness * mean.brightness) / n;
    return mean;
  }

  /// The light of a pixel, averaged with neighbours that show the same surface and differ by no more than
  /// chance. Takes away the grain of soft light and keeps edges, lines and shadows.
  Vector3f smoothed(const std::vector<Pixel>& pixels, int x, int y) const {
    constexpr int radius = 4;
    auto at = [&](int u, int v) -> const Pixel& {
      return pixels[std::size_t(v) * std::size_t(options_.width) + std::size_t(u)];
    };
    const Pixel& centre = at(x, y);
    Vector3f sum = Vector3f::Zero();
    float weights = 0;
    for (int v = std::max(0, y - radius); v <= std::min(options_.height - 1, y + radius); ++v)
      for (int u = std::max(0, x - radius); u <= std::min(options_.width - 1, x + radius); ++u) {
        const Pixel& other = at(u, v);
        const float chance = centre.variance + other.variance + 1e-7f;
        const float difference = centre.brightness - other.brightness;
        const float apart = (centre.colour - other.colour).squaredNorm() / 0.0016f +
                            (centre.normal - other.normal).squaredNorm() / 0.0100f +
                            difference * difference / (2 * chance) +
                            float((u - x) * (u - x) + (v - y) * (v - y)) / (0.5f * radius * radius);
        if (apart > 12) continue;
        const float weight = std::exp(-apart);
        sum += weight * other.light;
        weights += weight;
      }
    return sum / weights;
  }

  Vector3f view_ray(int x, int y, const Samples& samples, int s) const {
    // A tent of 1.5 pixels' width, the shape of a good cheap filter.
    auto tent = [](float u) { return u < 0.5f ? std::sqrt(2 * u) - 1 : 1 - std::sqrt(2 - 2 * u); };
    const float px = float(x) + 0.5f + 0.75f * tent(samples(s, 0)) - 0.5f * float(options_.width);
    const float py = float(y) + 0.5f + 0.75f * tent(samples(s, 1)) - 0.5f * float(options_.height);
    const float scale = 2 * half_height_ / float(options_.height);
    return (forward_ + px * scale * right_ - py * scale * above_).normalized();
  }

  Seen see(const Vector3f& direction, const Samples& samples, int s) const {
    const auto solid = solid_.closest({eye_, direction});
    float nearest = solid ? solid->distance : std::numeric_limits<float>::infinity();
    const Ground* ground = nullptr;
    for (const Ground& g : grounds_)
      if (const auto t = g.hit(eye_, direction); t && *t < nearest) {
        nearest = *t;
        ground = &g;
      }
    Seen sum{Vector3f::Zero(), Vector3f::Zero(), Vector3f::Zero()};
    float share = 1;  // of the light from behind that comes through the glass so far
    auto add = [&](const Seen& seen, float part) {
      sum.light += share * part * seen.light.cwiseMin(4.0f);
      sum.colour += share * part * seen.colour;
      sum.normal += share * part * seen.normal;
      share *= 1 - part;
    };
    if (!glass_.empty()) {
      Ray ray{eye_, direction, 0, nearest};
      while (share > 0.02f) {
        const auto hit = glass_.closest(ray);
        if (!hit) break;
        add(surface(*hit, direction, samples, s), opacity(*hit, direction));
        ray.near = hit->distance + surface_offset;
      }
    }
    if (share <= 0.02f) return sum;
    if (ground)
      add(floor(*ground, eye_ + nearest * direction, direction, samples, s), 1);
    else if (solid)
      add(surface(*solid, direction, samples, s), 1);
    else
      add({background(direction), background(direction), Vector3f::Zero()}, 1);
    return sum;
  }

  /// Of glass: the same all over a body, but for its rim, so that its shape can be seen.
  static float opacity(const Hit& hit, const Vector3f& direction) {
    const float facing = std::min(1.0f, std::abs(hit.shading_normal.dot(direction)));
    return 0.16f + 0.5f * std::pow(1 - facing, 2.5f);
  }

  Vector3f background(const Vector3f& direction) const {
    return mix(horizon, Vector3f(0.50f, 0.60f, 0.72f), smooth_step(-0.05f, 0.75f, up_.dot(direction)));
  }

  /// Light of the sky from a direction, or of the floor from below.
  Vector3f sky(const Vector3f& from, const Vector3f& direction) const {
    for (const Ground& g : grounds_)
      if (g.hit(from, direction)) return Vector3f(0.46f, 0.44f, 0.42f);
    return mix(Vector3f(0.95f, 0.97f, 1.0f), Vector3f(0.78f, 0.88f, 1.05f), std::abs(up_.dot(direction)));
  }

  struct Light {
    Vector3f sky;  ///< arriving, as if a white surface sent it back
    float lamp;    ///< share of the lamp that arrives
    Vector3f lamp_direction;
  };

  Light light_at(const Vector3f& p, const Vector3f& geometric, const Vector3f& normal, const Samples& samples,
                 int s) const {
    const Vector3f origin = p + surface_offset * geometric;
    Light light{Vector3f::Zero(), 0, Vector3f::Zero()};
    Vector3f d = around(normal, samples(s, 2), samples(s, 3));
    if (d.dot(geometric) < 0) d -= 2 * d.dot(geometric) * geometric;  // below the true surface
    if (solid_.occluded({origin, d}))
      light.sky = Vector3f::Constant(0.10f);  // what others send back
    else
      light.sky = (!glass_.empty() && glass_.occluded({origin, d}) ? 0.6f : 1.0f) * sky(origin, d);
    // The lamp is a disc about 5 degrees wide.
    const float r = 0.045f * std::sqrt(samples(s, 4)), angle = 2 * pi * samples(s, 5);
    light.lamp_direction =
        (lamp_ + r * (std::cos(angle) * lamp_side_ + std::sin(angle) * lamp_top_)).normalized();
    if (light.lamp_direction.dot(geometric) <= 0) return light;
    const Ray to_lamp{origin, light.lamp_direction};
    for (const Ground& g : grounds_)
      if (g.hit(origin, light.lamp_direction)) return light;
    if (!solid_.occluded(to_lamp)) light.lamp = !glass_.empty() && glass_.occluded(to_lamp) ? 0.6f : 1;
    return light;
  }

  Seen surface(const Hit& hit, const Vector3f& direction, const Samples& samples, int s) const {
    const Vector3f p = eye_ + hit.distance * direction;
    const Vector3f& n = hit.shading_normal;
    const Light light = light_at(p, hit.geometric_normal, n, samples, s);
    const float cosine = std::max(0.0f, n.dot(light.lamp_direction)) * light.lamp;
    const Vector3f& colour = hit.colour;
    Vector3f result = colour.cwiseProduct(0.62f * light.sky + cosine * lamp_colour);
    // A weak highlight, to show the shape: Blinn's, and a little more sky at grazing angles. Sheets are matt:
    // on folds each highlight is a pale blotch of its own, and hides the shape.
    const Vector3f half = (light.lamp_direction - direction).normalized();
    const float shine = std::pow(std::max(0.0f, n.dot(half)), 48.0f);
    const float grazing = std::pow(1 - std::min(1.0f, std::abs(n.dot(direction))), 4.0f);
    result += (hit.shape->sheet ? 0.03f : 0.22f) * shine * cosine * lamp_colour + 0.10f * grazing * light.sky;
    return {result, colour, n};
  }

  Seen floor(const Ground& ground, const Vector3f& p, const Vector3f& direction, const Samples& samples,
             int s) const {
    const float away = (p - ground.normal * ground.normal.dot(p)).norm();
    const float fade = smooth_step(1.2f, 5.0f, away);  // into the background, without an edge
    Vector3f base = mix(Vector3f(0.80f, 0.80f, 0.79f), background(direction), fade);
    if (fade >= 1) return {base, base, ground.normal};
    base *= mix_number(0.75f + 0.25f * std::max(0.0f, ground.normal.dot(up_)), 1, fade);
    base *= 1 - 0.10f * grid_line(ground, p) * (1 - fade);
    // Shadow: the light here relative to the light there would be without bodies.
    const Light light = light_at(p, ground.normal, ground.normal, samples, s);
    const float open_lamp = std::max(0.0f, ground.normal.dot(lamp_));
    const Vector3f now = 0.62f * light.sky + light.lamp * open_lamp * lamp_colour;
    const Vector3f open = 0.62f * Vector3f(0.86f, 0.92f, 1.03f) + open_lamp * lamp_colour;
    return {base.cwiseProduct(mix(now.cwiseQuotient(open), Vector3f::Ones(), fade)), base, ground.normal};
  }

  static float mix_number(float a, float b, float t) { return (1 - t) * a + t * b; }

  float grid_line(const Ground& ground, const Vector3f& p) const {
    int axis;
    ground.normal.cwiseAbs().maxCoeff(&axis);
    float line = 0;
    for (int k : {(axis + 1) % 3, (axis + 2) % 3}) {
      // In world coordinates, so that lines stand at round numbers.
      const float q = (p[k] + float(camera_.target[k] / camera_.scene_size)) / grid_;
      const float off = std::abs(q - std::round(q)) * grid_;
      line = std::max(line, 1 - smooth_step(0.0008f, 0.0022f, off));
    }
    return line;
  }

  static std::uint8_t encoded(float linear) {
    // A soft shoulder instead of clipping, then the curve of sRGB.
    const float x = linear <= 0.8f ? linear : 1 - 0.2f * std::exp((0.8f - linear) / 0.2f);
    const float s = x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1 / 2.4f) - 0.055f;
    return std::uint8_t(std::lround(255 * std::clamp(s, 0.0f, 1.0f)));
  }

  static inline const Vector3f horizon{0.80f, 0.84f, 0.88f};
  static inline const Vector3f lamp_colour{1.05f, 0.98f, 0.88f};

  RenderOptions options_;
  Camera camera_;
  Normalization normalization_;
  std::vector<Shape> shapes_;
  std::vector<char> is_glass_;
  Vector3f eye_, up_, forward_, right_, above_, lamp_, lamp_side_, lamp_top_;
  float half_height_;
  RayScene solid_, glass_;
  std::vector<Ground> grounds_;
  float grid_ = 1;
};

}  // namespace

Image draw(const Frame& frame, const RenderOptions& options) {
  check_drawable(frame, options);
  // Known at the points of the frame alone, not at those of a finer surface.
  constexpr std::string_view of_points[] = {"gap", "contact_force", "contact_pressure", "displacement"};
  const bool as_it_is = options.colouring && std::ranges::count(of_points, options.colouring->field) > 0;
  Image image =
      Picture(shown_frame(frame, as_it_is ? ShownSurface::collision : options.surface), options).draw();
  if (const auto& c = options.colouring; c && options.legend) {
    const FieldKind& field = find_field(c->field);
    draw_legend(image, {field.label, field.unit, c->low, c->high, field.logarithmic});
  }
  return image;
}

Surroundings surroundings(const Frame& frame, const RenderOptions& options) {
  check_drawable(frame, options);
  if (options.surroundings) return *options.surroundings;
  const Camera camera = chosen_camera(frame, options);
  const Normalization normalization{camera.target, camera.scene_size};
  return {hiding_obstacles(shapes_of(frame, normalization), normalization(camera.eye))};
}

void render(const Frame& frame, const RenderOptions& options, const std::filesystem::path& png) {
  write_png(png, draw(frame, options));
}

}  // namespace apart
