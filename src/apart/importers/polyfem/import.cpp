// Scenes of PolyFEM as scenes: what concerns the whole scene.
#include <apart/importers/polyfem/document.hpp>
#include <apart/importers/polyfem/importer.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>

namespace apart::polyfem {

namespace {
constexpr double most_steps = 1e9;
}  // namespace

PolyfemImporter::PolyfemImporter(const fs::path& file, const fs::path& directory)
    : root_(std::make_shared<JsonValue>(read_document(file))),
      top_(*root_),
      file_(file),
      directory_(directory.empty() ? directory : fs::absolute(directory).lexically_normal()),
      notes_(lines_) {}

ImportedScene PolyfemImporter::import() {
  Section top(top_, "", notes_);
  read_settings(top);
  const auto geometry = top.find("geometry");
  if (!geometry) top_.fail("has no \"geometry\"");
  planar_ = is_planar(*geometry);
  Problems problems;
  for (const LocatedJson& item : geometry->items()) problems.collect([&] { add(item); });
  problems.throw_if_any();
  check_ids();
  top.ignore({"output"}, "a run is written as the scene's own output says");
  top.ignore({"tests", "authen", "units", "root_path", "preset_problem"});
  top.finish();
  scene_.name = file_.stem().string();
  scene_.description = fmt::format("converted from {}", file_.filename().string());
  return {std::move(scene_), std::move(lines_)};
}

Place PolyfemImporter::place_of(const LocatedJson& at) const {
  return Place(at.value().source ? at.value().source : std::make_shared<const std::string>(file_.string()),
               std::max(1, at.value().line));
}

fs::path PolyfemImporter::named_file(const LocatedJson& at) const {
  const fs::path path = file_.parent_path() / at.text();
  std::error_code error;
  if (!fs::exists(path, error))
    at.fail("got {}, but there is no such file: {}", to_short_text(at.value()), path.string());
  return path;
}

bool PolyfemImporter::is_flat(const Mesh& mesh) {
  return !mesh.is_volume() && mesh.faces.cols() > 0 &&
         mesh.points.row(2).maxCoeff() == mesh.points.row(2).minCoeff();
}

bool PolyfemImporter::is_planar(const LocatedJson& geometry) const {
  for (const LocatedJson& item : geometry.items()) {
    const auto is = [&](const char* key, bool usual) { return item.has(key) ? item[key].boolean() : usual; };
    if (is("is_obstacle", false) || !is("enabled", true) || !item.has("mesh")) continue;
    return item["mesh"].locate([&] { return is_flat(read_mesh(named_file(item["mesh"]))); });
  }
  return false;
}

Vector3 PolyfemImporter::vector_of(const LocatedJson& at) {
  return at.value().get_if<JsonValue::Array>() && at.size() == 2 ? Vector3(at[0].number(), at[1].number(), 0)
                                                                 : at.vector();
}

void PolyfemImporter::convert_to_plane(ElasticMaterial& material, const LocatedJson& at) {
  const double* young = std::get_if<double>(&material.E);
  const double* poisson = std::get_if<double>(&material.nu);
  if (!young || !poisson) at.fail("has numbers for each cell, which planar bodies cannot have");
  const double e = *young, nu = *poisson;
  material.E = tidy(e * (1 + 2 * nu) / ((1 + nu) * (1 + nu)));
  material.nu = tidy(nu / (1 + nu));
  notes_.once(
      "plane", at,
      fmt::format("is of the plane, where lambda is E nu/(1 - nu^2): E = {:g} and nu = {:g} become {:g} "
                  "and {:g} in plane strain, which is the same",
                  e, nu, std::get<double>(material.E), std::get<double>(material.nu)));
}

void PolyfemImporter::read_settings(Section& top) {
  read_time(top);
  read_contact(top);
  read_solver(top);
  if (const auto space = top.find("space")) {
    Section section(*space, "space", notes_);
    if (const auto order = section.find("discr_order")) order_ = *order;
    if (const auto advanced = section.find("advanced")) {
      Section inner(*advanced, "space.advanced", notes_);
      if (const auto order = inner.find("quadrature_order"); order && order->integer() > 0) {
        if (order->integer() > 15) order->fail("got {}, must be at most 15", order->integer());
        quadrature_ = int(order->integer());
      }
      inner.ignore({"discr_order_max", "isoparametric", "bc_method", "mass_quadrature_order", "B",
                    "h1_formula", "n_boundary_samples", "use_particle_advection"});
      inner.finish();
    }
    section.ignore({"remesh", "basis_type", "poly_basis_type", "pressure_discr_order", "use_p_ref"});
    section.finish();
  }
  if (const auto conditions = top.find("boundary_conditions")) read_conditions(*conditions);
  if (const auto start = top.find("initial_conditions")) {
    Section section(*start, "initial_conditions", notes_);
    if (const auto list = section.find("velocity"))
      for (const LocatedJson& item : entries(*list))
        velocities_[item["id"].integer()] = vector_of(item["value"]);
    section.ignore({"solution", "acceleration"});
    section.finish();
  }
  if (const auto list = top.find("materials"))
    for (const LocatedJson& item : entries(*list)) materials_.push_back(item);
}

void PolyfemImporter::read_time(Section& top) {
  const auto at = top.find("time");
  if (!at) {
    scene_.time.integrator = Integrator::quasi_static;
    scene_.time.steps = 1;
    notes_.add(top_, "has no \"time\": one step to where forces balance");
    return;
  }
  Section section(*at, "time", notes_);
  double tend = 0, dt = 0, steps = 0, start = 0;
  section.take_positive("tend", tend);
  section.take_positive("dt", dt);
  section.take_positive("time_steps", steps);
  section.take_number("t0", start);
  if ((tend > 0) + (dt > 0) + (steps > 0) < 2) at->fail("needs two of \"tend\", \"dt\" and \"time_steps\"");
  if (start != 0) (*at)["t0"].fail("got {}, must be 0", start);
  if (dt == 0) dt = tend / steps;
  if (steps == 0) steps = std::ceil(tend / dt * (1 - 1e-12));
  if (!(steps >= 1 && steps <= most_steps))
    at->fail("asks for {} steps, must be from 1 to {:g}", steps, most_steps);
  scene_.time.dt = tidy(dt);
  scene_.time.steps = Index(steps);
  scene_.time.max_motion = 0;  // a step is one solve there
  if (const auto integrator = section.find("integrator")) set_integrator(*integrator);
  section.ignore({"quasistatic"});
  section.finish();
}

void PolyfemImporter::set_integrator(const LocatedJson& at) {
  const bool named = at.value().get_if<std::string>() != nullptr;
  const std::string type = named ? at.text() : at["type"].text();
  const Index order = !named && at.has("steps")                     ? at["steps"].integer()
                      : type.size() == 4 && type.starts_with("BDF") ? Index(type[3] - '0')
                                                                    : 1;
  if (type == "ImplicitNewmark") {
    scene_.time.integrator = Integrator::newmark;
    if (!named && at.has("beta")) scene_.time.beta = at["beta"].number();
    if (!named && at.has("gamma")) scene_.time.gamma = at["gamma"].number();
  } else if (type.starts_with("BDF") && order == 2) {
    scene_.time.integrator = Integrator::bdf2;
  } else if (type != "ImplicitEuler" && !(type.starts_with("BDF") && order == 1)) {
    at.fail("got {}, must be ImplicitEuler, BDF1, BDF2 or ImplicitNewmark", to_short_text(at.value()));
  }
}

void PolyfemImporter::read_contact(Section& top) {
  ContactDescription& contact = scene_.contact;
  contact.dhat = contact.epsv = Length{1e-3, false};
  const auto at = top.find("contact");
  if (!at) return;
  Section section(*at, "contact", notes_);
  bool enabled = true, by_area = false;
  double dhat = 1e-3, epsv = 1e-3, friction = 0;
  section.take_boolean("enabled", enabled);
  section.take_boolean("use_convergent_formulation", by_area);
  section.take_positive("dhat", dhat);
  section.take_positive("epsv", epsv);
  section.take_not_negative("friction_coefficient", friction);
  if (!enabled)
    notes_.add((*at)["enabled"], "is false there; here bodies never intersect, so contact stays on");
  contact.dhat = Length{dhat, false};
  contact.epsv = Length{epsv, false};
  contact.friction_coefficient = friction;
  if (const auto mesh = section.find("collision_mesh")) collision_ = *mesh;
  if (by_area) contact.formulation = ContactFormulation::convergent;
  section.ignore({"use_area_weighting", "use_improved_max_operator", "use_physical_barrier", "periodic",
                  "dhat_percentage"});
  section.finish();
}

void PolyfemImporter::read_solver(Section& top) {
  const auto at = top.find("solver");
  if (!at) return;
  Section section(*at, "solver", notes_);
  if (const auto contact = section.find("contact")) {
    Section inner(*contact, "solver.contact", notes_);
    Index iterations = 1;
    inner.take_integer("friction_iterations", iterations);
    if (iterations == 0) scene_.contact.friction_coefficient = 0.0;
    scene_.contact.friction_iterations = std::max<Index>(0, iterations);
    if (const auto stiffness = inner.find("barrier_stiffness");
        stiffness && stiffness->value().get_if<double>())
      scene_.contact.barrier_stiffness = stiffness->number();
    inner.ignore({"friction_convergence_tol", "CCD"});
    inner.finish();
  }
  if (const auto nonlinear = section.find("nonlinear")) {
    Section inner(*nonlinear, "solver.nonlinear", notes_);
    double moved = 0;
    inner.take_not_negative("x_delta", moved);
    if (moved > 0) scene_.solver.tolerance = Length{tidy(moved / scene_.time.dt), false};
    inner.ignore({"grad_norm"}, "steps end as the scene's own tolerance says");
    inner.ignore({"line_search", "solver", "max_iterations", "Newton", "advanced", "first_grad_norm_tol",
                  "iterations_per_strategy"});
    inner.finish();
  }
  section.ignore({"linear", "advanced", "augmented_lagrangian", "rayleigh_damping"});
  section.finish();
}

void PolyfemImporter::read_conditions(const LocatedJson& at) {
  Section section(at, "boundary_conditions", notes_);
  scene_.gravity = Vector3::Zero();
  if (const auto force = section.find("rhs")) {
    for (const LocatedJson& item : force->items())
      if (!item.value().get_if<double>()) item.fail("must be a number: acceleration, constant in time");
    scene_.gravity = tidy(Vector3(-vector_of(*force)));
  }
  const auto collect = [&](std::string_view key, std::map<Index, LocatedJson>& all) {
    if (const auto list = section.find(key))
      for (const LocatedJson& item : entries(*list)) all.insert_or_assign(item["id"].integer(), item);
  };
  collect("dirichlet_boundary", dirichlet_);
  collect("obstacle_displacements", displacements_);
  if (const auto neumann = section.find("neumann_boundary"); neumann && neumann->size() > 0)
    neumann->fail("tractions are not read; add them to the converted scene as loads");
  if (const auto pressure = section.find("pressure_boundary"); pressure && pressure->size() > 0)
    pressure->fail("pressures are not read; add them to the converted scene as loads");
  section.finish();
}

}  // namespace apart::polyfem

namespace apart {

bool is_polyfem_scene(const std::filesystem::path& file) {
  if (lower_case(file.extension().string()) != ".json") return false;
  try {
    return polyfem::is_scene(polyfem::read_lenient(file));
  } catch (const InputError&) {
    return false;  // whoever reads it as a scene says what is wrong
  }
}

ImportedScene import_polyfem_scene(const std::filesystem::path& file, const ImportOptions& options) {
  return polyfem::PolyfemImporter(file, options.directory).import();
}

}  // namespace apart
