#pragma once
#include <apart/io/frame.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

/// The frames of a run directory: frames/frame_000000.vtu …, with frames.pvd as their index over time.
class FrameWriter {
 public:
  /// Creates run_directory/frames. `extra_formats` may hold "obj" and "ply": the surface, beside each VTU;
  /// and "pvtu": the frame once more in `pieces`, which programs of many processes read each by one.
  /// `keep` continues a run: its first so many frames stay, later ones are replaced as new ones are written.
  FrameWriter(std::filesystem::path run_directory, std::vector<std::string> extra_formats = {},
              Index keep = 0, int pieces = 1);
  /// Writes the next frame, then the index. After each call the directory is complete and valid.
  void write(const Frame& frame);
  Index count() const { return count_; }

 private:
  void add_entry(double time);
  std::filesystem::path directory_;
  std::vector<std::string> extra_formats_;
  int pieces_;
  Index count_ = 0;
  std::string entries_;  ///< lines of the index
};

/// One line of a run's index of frames.
struct FrameEntry {
  double time = 0;             ///< [s]
  std::filesystem::path file;  ///< as the index has it, relative to the run directory; may be missing
};

/// The index of a run's frames as it stands, for readers of runs that are being written or are damaged; empty
/// if there is none yet. Throws InputError if it cannot be understood.
std::vector<FrameEntry> read_frame_index(const std::filesystem::path& run_directory);

/// Of a frame's file, relative to the run directory.
std::string frame_name(Index frame);

/// Paths of a run's frames in order of time. Throws InputError if there are none or the run directory is
/// damaged.
std::vector<std::filesystem::path> list_frames(const std::filesystem::path& run_directory);

}  // namespace apart
