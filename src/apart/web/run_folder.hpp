#pragma once
#include <apart/io/run_frames.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/web/byte_cache.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

namespace apart {

/// A run directory as the page reads it, which may still be written to, or be damaged: a problem of a frame
/// is reported when that frame is requested, and affects no other. Reads nothing outside the directory,
/// wherever its index of frames or its symbolic links point. For several threads. Memory is bounded: packets
/// and frames used last are kept, up to a limit each.
class RunFolder {
 public:
  /// Throws InputError if there is no such directory, or it has nothing that a run writes.
  explicit RunFolder(const std::filesystem::path& directory);

  const std::string& name() const { return name_; }  ///< the directory's

  /// JSON text: scene, status ("gone": the directory is not there any more), reason (if it ended badly),
  /// problem (what of the run cannot be read), age (seconds since something was written), generation (changes
  /// when the run was restarted), frames {count, from, times, before, stamp}, steps {count, from, columns},
  /// and probes, which is like steps, all three from the given numbers on. `stamp` stands for all frames and
  /// `before` for those in front of `from`: it is the stamp of an earlier answer as long as none of them was
  /// written again.
  std::string state(Index first_frame, Index first_step, Index first_probe);

  /// See packets.hpp; `what` is "topology", "positions", or the name of a field. Throws InputError if the
  /// frame does not exist, is missing or damaged.
  std::shared_ptr<const std::string> packet(const std::string& what, Index frame, ShownSurface surface);
  std::string picked(Index frame, Index cell, Index point, ShownSurface surface);

 private:
  /// A frame and what of it is seen.
  struct Loaded {
    Frame frame;
    bool has_other_surfaces = false;
    std::shared_ptr<const DrawnSurface> surface;
  };
  /// A file of lines that grows: what is behind `position` has not been read yet.
  struct Tail {
    std::filesystem::path file;
    std::size_t position = 0;
    std::string last;  ///< what was read last, some lines in front of `position`
  };
  /// A file of numbers in named columns that grows.
  struct GrowingTable {
    Tail tail;
    std::vector<std::string> names;
    std::vector<std::vector<double>> columns;
    std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
    void forget() { *this = {{tail.file, 0, {}}, {}, {}}; }
  };
  bool goes_on(const Tail& tail) const;
  std::vector<std::string> new_lines(Tail& tail);
  void read(GrowingTable& table);

  std::filesystem::path inside(const std::filesystem::path& relative) const;
  std::vector<FrameEntry> index();
  std::shared_ptr<const Loaded> load(Index frame, ShownSurface surface, std::string& key);
  double contact_reach(const Frame& frame) const;
  Matrix3X start_of(const Loaded& loaded, ShownSurface surface);
  void forget_steps();
  void read_times();

  std::filesystem::path directory_;  ///< canonical
  std::string name_;

  std::mutex mutex_;  ///< of everything below but the caches
  std::string index_stamp_;
  std::vector<FrameEntry> index_;
  std::string first_frame_stamp_;  ///< of the run that the lists below are of
  int restarts_ = 0;               ///< how often the lists below were found to be of a file that is no more
  GrowingTable steps_, probes_;
  Tail log_file_;
  std::map<Index, double> step_seconds_;                                   ///< step → wall time
  std::map<std::uint64_t, std::shared_ptr<const DrawnSurface>> surfaces_;  ///< of the last topologies

  std::counting_semaphore<> making_{4};  ///< so many packets are made at a time; each needs a frame in memory
  ByteCache<std::string> packets_{256u << 20};
  ByteCache<Loaded> frames_{256u << 20};
};

}  // namespace apart
