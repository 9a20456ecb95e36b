#pragma once
#include <apart/io/iterates.hpp>
#include <apart/io/run_digests.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/run/run_totals.hpp>
#include <apart/verify/frame_check.hpp>

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace apart {

/// Writes the iterates and frames of a run, lists their digests, and checks frames exactly. If the run has
/// more than one thread this is done by a thread of its own while the next step is simulated; what is
/// written, and in which order, is the same.
///
/// One record is in work at a time: add() waits for the one before. A file that could not be written is
/// reported by the next call that waits, and everything up to the last finish() is on the disk.
class RunRecorder {
 public:
  /// What is kept of a step.
  struct Record {
    std::optional<Iterates> iterates = {};
    std::vector<Frame> topologies = {};    ///< of each mesh that came with the step, if iterates are recorded
    std::optional<Frame> new_meshes = {};  ///< meshes have changed: these are checked from now on
    std::optional<Frame> frame = {};
  };
  /// What has become of the records so far.
  struct Written {
    Index frames = 0;
    std::string scene_digest, run_digest;
    Findings findings;
    bool has_thickness = false, has_strain_limits = false;  ///< there is something to check
  };

  /// `first`: with the meshes at the start. `frames`: none if no frames are kept. `found`: before this run
  /// was continued.
  RunRecorder(std::filesystem::path directory, const Frame& first, std::optional<FrameWriter> frames,
              RunDigests digests, Findings found);
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  bool keeps_frames() const { return frames_.has_value(); }
  /// Waits for the record before this one. Throws what went wrong with it.
  void add(Record record);
  /// Waits until everything is written. Throws what went wrong.
  void finish();
  /// Whether all that was added is, or will be, on the disk as far as is known.
  bool is_whole() const;
  /// Without waiting: without the record in work.
  Written written() const;

  /// Checks a frame that is not to be written; waits.
  void examine(const Frame& frame);
  /// Pieces of bodies inside a solid; waits. See FrameCheck.
  std::vector<verify::Finding> nested(const Matrix3X& points, const std::vector<int>& absent);

 private:
  void work();
  void wait(std::unique_lock<std::mutex>& lock);
  void write(const Record& record);
  void check(const Frame& frame);
  void publish();

  std::filesystem::path directory_;
  // Of whoever works on a record; nobody else touches them meanwhile.
  verify::FrameCheck check_;
  std::optional<FrameWriter> frames_;
  RunDigests digests_;
  Findings findings_;

  mutable std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::optional<Record> record_;  ///< in work
  std::exception_ptr error_;      ///< not reported yet
  bool is_whole_ = true, ends_ = false;
  Written written_;
  std::thread thread_;  ///< none if the run has one thread
};

}  // namespace apart
