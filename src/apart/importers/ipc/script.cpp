#include <apart/core/error.hpp>
#include <apart/importers/ipc/script.hpp>
#include <apart/importers/ipc/words.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

namespace fs = std::filesystem;

/// Reads a script, keyword by keyword.
class Parser : ipc::WordReader {
  using Word = ipc::Word;

 public:
  using WordReader::WordReader;

  IpcScript parse() {
    while (next_line()) {
      if (words_.empty()) continue;
      keyword_ = words_[at_++];
      const Keyword* known = nullptr;
      for (const Keyword& candidate : keywords())
        if (candidate.name == keyword_.text) known = &candidate;
      if (!known) fail_unknown();
      if (known->read) (this->*known->read)();
      if (!known->ignored.empty()) {
        ignore(keyword_, known->ignored);
        continue;  // whatever follows it has no effect either
      }
      expect_end();
    }
    return std::move(script_);
  }

 private:
  struct Keyword {
    std::string_view name;
    void (Parser::*read)() = nullptr;
    std::string_view ignored = {};  ///< why it has no effect
  };

  static std::span<const Keyword> keywords() {
    static constexpr std::string_view display = "pictures are made with 'apart render'";
    static constexpr std::string_view barrier = "contact is always solved with barriers";
    static constexpr Keyword table[] = {
        {"energy", &Parser::read_energy},
        {"timeIntegration", &Parser::read_integrator},
        {"size", &Parser::read_size},
        {"time", &Parser::read_time},
        {"density", &Parser::read_density},
        {"stiffness", &Parser::read_stiffness},
        {"turnOffGravity", &Parser::read_no_gravity},
        {"dampingStiff", &Parser::read_damping_stiffness},
        {"dampingRatio", &Parser::read_damping_ratio},
        {"script", &Parser::read_script},
        {"DBCTimeRange", &Parser::read_dirichlet_range},
        {"NBCTimeRange", &Parser::read_neumann_range},
        {"shape", &Parser::read_shape},
        {"shapes", &Parser::read_shapes},
        {"shapeMatrix", &Parser::read_shape_matrix},
        {"tol", &Parser::read_tolerances},
        {"ground", &Parser::read_ground},
        {"halfSpace", &Parser::read_half_space},
        {"meshCO", &Parser::read_mesh_obstacle},
        {"selfCollisionOn", &Parser::read_self_collision_on},
        {"selfCollisionOff", &Parser::read_self_collision_off},
        {"selfFric", &Parser::read_self_friction},
        {"constraintSolver", &Parser::read_constraint_solver},
        {"rotateModel", &Parser::read_turn},
        {"handleRatio", &Parser::read_handle_ratio},
        {"tuning", &Parser::read_tuning},
        {"dHat", &Parser::read_dhat},
        {"epsv", &Parser::read_epsv},
        {"fricIterAmt", &Parser::read_friction_iterations},
        {"useAbsParameters", &Parser::read_absolute},
        {"CCDMethod", &Parser::read_ccd},
        {"ccdMethod", &Parser::read_ccd},
        {"section", &Parser::read_section},
        {"restart", &Parser::read_restart},
        {"warmStart", nullptr, "a step begins where the last one ended"},
        {"linearSolver", nullptr, "choose with solver.linear_solver"},
        {"linSysSolver", nullptr, "choose with solver.linear_solver"},
        {"view", nullptr, display},
        {"zoom", nullptr, display},
        {"cameraTracking", nullptr, display},
        {"playBackSpeed", nullptr, display},
        {"appendStr", nullptr, "the run directory is named with 'apart run -o'"},
        {"disableCout", nullptr, "there is nothing to silence"},
        {"constraintType", nullptr, barrier},
        {"constraintOffset", nullptr, barrier},
        {"QPSolver", nullptr, barrier},
        {"useActiveSetConvergence", nullptr, barrier},
        {"noActiveSetConvergence", nullptr, barrier},
        {"kappaMinMultiplier", nullptr, "the barrier's stiffness follows from the forces"},
        {"minBarrierStiffnessScale", nullptr, "the barrier's stiffness follows from the forces"},
        {"CCDTolerance", nullptr, "collision detection is conservative whatever its tolerance"},
        {"ccdTolerance", nullptr, "collision detection is conservative whatever its tolerance"},
        {"exactCCD", nullptr, "collision detection is always conservative"},
    };
    return table;
  }

  [[noreturn]] void fail_unknown() const {
    std::vector<std::string_view> names;
    for (const Keyword& k : keywords()) names.push_back(k.name);
    const std::string near = nearest_name(keyword_.text, names);
    fail(keyword_.line, "unknown keyword {}; {}", apart::quoted(keyword_.text),
         near.empty() ? "docs/coming-from-ipc.md lists the known ones"
                      : fmt::format("did you mean '{}'?", near));
  }

  // ---- keywords ---------------------------------------------------------------------------------

  void read_energy() {
    script_.energy = choice("an energy, NH or FCR", {"NH", "FCR"}) == 0 ? IpcScript::Energy::neo_hookean
                                                                        : IpcScript::Energy::fixed_corotated;
  }

  void read_integrator() {
    script_.newmark = choice("BE or NM", {"BE", "NM"}) == 1;
    if (!script_.newmark) return;
    if (const auto beta = optional_real()) script_.beta = *beta;
    if (const auto gamma = optional_real()) script_.gamma = *gamma;
  }

  void read_size() { script_.size = real("longest edge of the scene"); }

  void read_time() {
    script_.duration = positive("duration");
    script_.dt = positive("time step");
  }

  void read_density() { script_.material.density = positive("density"); }

  void read_stiffness() {
    script_.material.young = positive("Young's modulus");
    script_.material.poisson = real("Poisson's ratio");
  }

  void read_no_gravity() { script_.gravity = false; }
  void read_damping_stiffness() { script_.damping_stiffness = std::max(0.0, real("damping stiffness")); }
  void read_damping_ratio() { script_.damping_ratio = std::clamp(real("damping ratio"), 0.0, 1.0); }

  void read_script() {
    const Word name = word("the name of a script");
    script_.script = name.text;
    script_.script_line = name.line;
    if (name.text == "meshSeqFromFile") script_.script_folder = word("a folder of meshes").text;
    script_.script_parameters.clear();
    if (!more()) return;
    const int count = integer("number of parameters", 0, 1000);
    for (int i = 0; i < count; ++i) script_.script_parameters.push_back(real("parameter"));
  }

  IpcTimeRange range() {
    IpcTimeRange r;
    r.from = real("start time");
    r.until = real("end time");
    return r;
  }
  void read_dirichlet_range() { script_.dirichlet_range = range(); }
  void read_neumann_range() { script_.neumann_range = range(); }

  void expect_input() { choice("'input'", {"input"}); }

  void read_shape() {
    expect_input();
    IpcShape shape;
    const Word path = word("a mesh file");
    shape.line = path.line;
    shape.path = path.text;
    script_.shapes.push_back(shape);
  }

  void read_shapes() {
    expect_input();
    const int count = integer("number of shapes", 0, 1000000);
    const Word keyword = keyword_;
    for (int i = 0; i < count;) {
      if (!next_line()) fail(keyword.line, "'shapes' promises {} shapes, the file has {}", count, i);
      if (words_.empty()) continue;
      script_.shapes.push_back(placed_shape());
      ++i;
      read_options(script_.shapes.back());
    }
    keyword_ = keyword;
  }

  /// Path, translation, rotation, scale.
  IpcShape placed_shape() {
    keyword_ = words_[at_++];
    IpcShape shape;
    shape.line = keyword_.line;
    shape.path = keyword_.text;
    shape.translate = vector("translation");
    shape.rotate = vector("rotation");
    shape.scale = vector("scale");
    if (!(shape.scale.minCoeff() > 0))
      fail(shape.line, "'{}': scale: got {} {} {}, must be positive", shape.path, shape.scale[0],
           shape.scale[1], shape.scale[2]);
    return shape;
  }

  IpcMaterial read_material() {
    IpcMaterial material;
    material.density = real("density");
    material.young = real("Young's modulus");
    material.poisson = real("Poisson's ratio");
    return material;
  }

  IpcTimeRange optional_range() {
    IpcTimeRange r;
    if (const auto from = optional_real()) {
      r.from = *from;
      if (const auto until = optional_real()) r.until = *until;
    }
    return r;
  }

  void read_options(IpcShape& shape) {
    static constexpr std::string_view options[] = {"material", "linearVelocity", "angularVelocity", "DBC",
                                                   "NBC",      "initVel",        "meshSeq"};
    while (more()) {
      keyword_ = words_[at_++];
      const std::string_view option = keyword_.text;
      if (option == "material") {
        const IpcMaterial material = read_material();
        if (material.density > 0 && material.young > 0)
          shape.material = material;
        else
          ignore(keyword_, "density and Young's modulus must be positive; the general material is taken");
      } else if (option == "linearVelocity") {
        shape.velocity = vector("velocity");
      } else if (option == "angularVelocity") {
        shape.angular_velocity = vector("angular velocity");
      } else if (option == "initVel") {
        shape.initial_velocity = vector("velocity");
        shape.initial_angular_velocity = vector("angular velocity");
      } else if (option == "DBC") {
        IpcDirichlet condition;
        condition.line = keyword_.line;
        condition.low = vector("lower corner");
        condition.high = vector("upper corner");
        condition.velocity = vector("velocity");
        condition.angular_velocity = vector("angular velocity");
        condition.range = optional_range();
        shape.dirichlet.push_back(condition);
      } else if (option == "NBC") {
        IpcNeumann condition;
        condition.line = keyword_.line;
        condition.low = vector("lower corner");
        condition.high = vector("upper corner");
        condition.acceleration = vector("acceleration");
        condition.range = optional_range();
        shape.neumann.push_back(condition);
      } else if (option == "meshSeq") {
        shape.sequence = word("a folder of meshes").text;
      } else {
        const std::string near = nearest_name(option, options);
        fail(keyword_.line, "unknown option {} of a shape; {}", apart::quoted(option),
             near.empty() ? fmt::format("known are {}", fmt::join(options, ", "))
                          : fmt::format("did you mean '{}'?", near));
      }
    }
  }

  void read_shape_matrix() {
    expect_input();
    Eigen::Vector3i counts;
    for (int k = 0; k < 3; ++k) counts[k] = integer("number of copies", 0, 1000000);
    Vector3 origin = Vector3::Zero();
    for (int k = 0; k < 3; ++k)
      if (const auto value = optional_real()) origin[k] = *value;
    expect_end();
    const Word keyword = keyword_;
    do
      if (!next_line()) fail(keyword.line, "'shapeMatrix' needs a shape on the next line");
    while (words_.empty());
    IpcShape shape = placed_shape();
    shape.spacing = shape.translate;
    shape.translate = origin;
    shape.counts = counts;
    if (more() && words_[at_].text == "material") {
      ++at_;
      const IpcMaterial material = read_material();
      if (material.density > 0 && material.young > 0) shape.material = material;
    }
    if (counts.minCoeff() > 0) script_.shapes.push_back(shape);
  }

  void read_tolerances() {
    script_.tolerances = listed(integer("number of tolerances", 0, 1000000));
    for (const double tolerance : script_.tolerances)
      if (!(tolerance > 0)) fail(keyword_.line, "'tol': got {}, must be positive", tolerance);
  }

  void read_ground() {
    IpcHalfSpace ground;
    ground.line = keyword_.line;
    ground.ground = true;
    ground.friction = coefficient();
    ground.origin = Vector3(0, real("height"), 0);
    ground.normal = Vector3::UnitY();
    script_.half_spaces.push_back(ground);
  }

  void read_half_space() {
    IpcHalfSpace half_space;
    half_space.line = keyword_.line;
    half_space.origin = vector("origin");
    half_space.normal = vector("normal");
    if (half_space.normal.isZero(0))
      fail(keyword_.line, "'halfSpace': normal: got 0 0 0, must have a direction");
    real("stiffness");  // of an older contact model
    half_space.friction = coefficient();
    script_.half_spaces.push_back(half_space);
  }

  void read_mesh_obstacle() {
    IpcMeshObstacle obstacle;
    obstacle.line = keyword_.line;
    obstacle.path = word("a mesh file").text;
    obstacle.origin = vector("origin");
    obstacle.scale = positive("scale");
    real("stiffness");  // of an older contact model
    obstacle.friction = coefficient();
    if (more()) {
      choice("'rotate'", {"rotate"});
      obstacle.rotate = vector("rotation");
    }
    script_.mesh_obstacles.push_back(obstacle);
  }

  void read_self_collision_on() { script_.self_collision = true; }
  void read_self_collision_off() { script_.self_collision = false; }
  void read_self_friction() { script_.self_friction = std::max(0.0, real("coefficient of friction")); }

  void read_constraint_solver() {
    const std::size_t solver = choice("a solver", {"interiorPoint", "IP", "QP", "SQP"});
    if (solver > 1) ignore(keyword_, "contact is always solved with barriers, as by interiorPoint");
  }

  void read_turn() {
    script_.turn_axis = vector("axis");
    script_.turn_degrees = real("angle");
    if (script_.turn_axis.isZero(0))
      fail(keyword_.line, "'rotateModel': axis: got 0 0 0, must have a direction");
    script_.turn_axis.normalize();
  }

  void read_handle_ratio() {
    script_.handle_ratio = real("ratio");
    if (!(script_.handle_ratio > 0 && script_.handle_ratio < 0.5))
      fail(keyword_.line, "'handleRatio': got {}, must lie in (0, 0.5)", script_.handle_ratio);
  }

  void read_tuning() { script_.tuning = listed(integer("number of values", 0, 1000)); }

  void set_tuning(std::size_t first, double value) {
    if (script_.tuning.size() < first + 2) {
      static constexpr double defaults[] = {0, 1e-3, 1e-3, 1e-9, 1e-3, 1e-3};
      for (std::size_t i = script_.tuning.size(); i < first + 2; ++i) script_.tuning.push_back(defaults[i]);
    }
    script_.tuning[first] = script_.tuning[first + 1] = value;
  }
  void read_dhat() { set_tuning(1, positive("distance")); }
  void read_epsv() { set_tuning(4, positive("speed")); }

  void read_friction_iterations() { script_.friction_iterations = integer("number", -1000000, 1000000); }
  void read_absolute() { script_.absolute_parameters = true; }

  void read_ccd() {
    const Word method = word("a method");
    script_.tight_inclusion = method.text == "TightInclusion";
    if (!script_.tight_inclusion)
      ignore(keyword_, "collision detection is always conservative; choose with solver.ccd");
  }

  /// The lines up to "section end" are for the solvers that are named. This program solves with barriers.
  void read_section() {
    static constexpr std::string_view known[] = {"interiorPoint", "IP", "QP", "SQP", "end"};
    bool ours = false;
    const bool unnamed = !more();
    while (more()) {
      const std::size_t which = choice("a solver", known);
      ours = ours || which < 2 || which == 4;
    }
    if (ours) return;
    const Word keyword = keyword_;
    while (next_line())
      if (words_.size() >= 2 && words_[0].text == "section" && words_[1].text == "end") break;
    at_ = words_.size();
    if (unnamed) ignore(keyword, "it names no solver; it and what follows are not read");
  }

  void read_restart() {
    fail(keyword_.line,
         "'restart' continues from a state of the other program, which cannot be read; remove it and "
         "simulate from "
         "the start");
  }
};

/// The script that a file stands for if it holds nothing but a path.
std::optional<fs::path> link_target(const fs::path& file, std::string_view text) {
  std::string_view content;
  for (const std::string_view line : ipc::lines_of(text)) {
    const auto words = ipc::words_of(line, 1);
    if (words.empty()) continue;
    if (words.size() > 1 || !content.empty()) return std::nullopt;
    content = words[0].text;
  }
  const fs::path target = content;
  if (!is_ipc_script(target)) return std::nullopt;
  return file.parent_path() / target;
}

}  // namespace

bool is_ipc_script(const fs::path& file) {
  const std::string extension = lower_case(file.extension().string());
  return extension == ".txt" || extension == ".ipc";
}

IpcScript read_ipc_script(const fs::path& file) {
  constexpr int most_links = 10;
  fs::path at = file;
  for (int links = 0; links <= most_links; ++links) {
    const FileReader reader(at);
    const auto target = link_target(at, reader.content());
    if (!target) return Parser(at.lexically_normal(), reader.content()).parse();
    std::error_code error;
    if (!fs::exists(*target, error))
      throw InputError("{}: stands for {}, which does not exist; copy that script beside it", at.string(),
                       target->lexically_normal().string());
    at = *target;
  }
  throw InputError("{}: stands for a file that stands for a file ..., more than {} times; break the circle",
                   file.string(), most_links);
}

}  // namespace apart
