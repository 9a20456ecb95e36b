#pragma once
// What the publications report of their scenes.
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace apart::bench {

/// A row of the thesis' tables C.2 to C.6: means over the whole simulation, with the threads of CPU C1 to C4
/// (table C.1).
struct PublishedScene {
  std::string_view script;    ///< below the folder of scripts, without extension
  std::string_view table;     ///< where the figures are from
  std::string_view name;      ///< there
  std::string_view contacts;  ///< mean (max)
  double iterations;          ///< per step
  double seconds;             ///< wall time per step
  double megabytes;
  std::string_view cpu;
};

/// Not all scripts have a row, and not all rows a script that is published.
std::optional<PublishedScene> published(std::string_view script);

/// A scene of Codimensional IPC, run on the published meshes, beside its row of C-IPC, figures 20 and 24:
/// means over the whole simulation, on as many cores.
struct CodimensionalScene {
  std::string_view name;                          ///< of the row
  std::string_view file;                          ///< in bench/codim, without extension
  std::array<std::string_view, 4> settings = {};  ///< changes of the scene file, as for `apart run --set`
  int steps = 0;                                  ///< that are run
  std::string_view published = {};                ///< name there; empty: nothing is published
  std::string_view nodes = {}, contacts = {};     ///< there; contacts mean (max)
  double iterations = 0, minutes = 0;             ///< there, per time step, 0: not published; wall time
  std::string_view figure = {}, cores = {};       ///< there
};

/// A row of the thesis' table 4.1, means over the whole simulation on as many threads, and of table D.1.
struct PublishedRigidScene {
  std::string_view fixture;      ///< below the folder of 3D fixtures, without extension
  std::string_view name;         ///< there
  std::string_view contacts;     ///< mean (max)
  double iterations;             ///< per step; 0: not in table 4.1
  double seconds;                ///< wall time per step
  int threads = 16;              ///< of an EPYC at 2.35 GHz
  std::string_view totals = {};  ///< of table D.1: seconds and iterations of IPC, then of Rigid IPC
};

/// Not all fixtures have a row, and not all rows a fixture that is published.
std::optional<PublishedRigidScene> published_rigid(std::string_view fixture);

/// A row of table 4.1 whose fixture is not published: another one with changes.
struct RigidVariant {
  std::string_view name;     ///< in place of the fixture's
  std::string_view fixture;  ///< that is changed
  std::array<std::string_view, 4> settings = {};
};
std::span<const RigidVariant> rigid_variants();

/// A row of the thesis' table 5.2, totals of the whole simulation on 16 threads of a Xeon at 2.9 GHz.
struct PublishedHighOrderScene {
  std::string_view scene;            ///< end of the path of the scene, without extension
  std::string_view name;             ///< there, with the basis
  std::string_view elements, faces;  ///< there; faces of collision surface and obstacles
  double seconds;                    ///< wall time in all
  int steps;
};

/// Not all scenes have a row, and not all rows a scene that is published.
std::optional<PublishedHighOrderScene> published_high_order(std::string_view scene);

/// A scene of in-timestep remeshing on meshes of ours, beside its row of the thesis' tables 6.1 and 6.2:
/// means on 16 threads.
struct RemeshedScene {
  std::string_view name;                          ///< of the row
  std::string_view file;                          ///< in bench/remesh, without extension
  std::array<std::string_view, 4> settings = {};  ///< changes of the scene file, as for `apart run --set`
  int steps = 0;                                  ///< that are run
  double seconds = 0;                             ///< wall time per step; 0: not published
  /// The same with the start mesh and after one, two and three uniform refinements [s].
  std::string_view uniform_seconds = {};
  std::string_view dofs = {};  ///< mean (max)
};
std::span<const RemeshedScene> remeshed_scenes();

/// In the order of the table.
std::span<const CodimensionalScene> codimensional_scenes();

}  // namespace apart::bench
