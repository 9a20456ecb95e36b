#include <apart/core/parallel.hpp>
#include <apart/run/run_recorder.hpp>

namespace apart {

namespace fs = std::filesystem;

RunRecorder::RunRecorder(fs::path directory, const Frame& first, std::optional<FrameWriter> frames,
                         RunDigests digests, Findings found)
    : directory_(std::move(directory)),
      check_(first),
      frames_(std::move(frames)),
      digests_(std::move(digests)),
      findings_(std::move(found)) {
  publish();
  if (thread_count() > 1) thread_ = std::thread([this] { work(); });
}

RunRecorder::~RunRecorder() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RunRecorder::work() {
  const SerialLoops alone;  // the other threads simulate
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return record_ || ends_; });
    if (!record_) return;
    lock.unlock();
    std::exception_ptr error;
    try {
      write(*record_);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    record_.reset();
    if (error) {
      error_ = error;
      is_whole_ = false;
    }
    changed_.notify_all();
  }
}

void RunRecorder::wait(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !record_; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void RunRecorder::add(Record record) {
  std::unique_lock lock(mutex_);
  wait(lock);
  if (thread_.joinable()) {
    record_ = std::move(record);
    changed_.notify_all();
    return;
  }
  lock.unlock();
  try {
    write(record);
  } catch (...) {
    lock.lock();
    is_whole_ = false;
    throw;
  }
}

void RunRecorder::finish() {
  std::unique_lock lock(mutex_);
  wait(lock);
}

bool RunRecorder::is_whole() const {
  const std::lock_guard lock(mutex_);
  return is_whole_;
}

RunRecorder::Written RunRecorder::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void RunRecorder::examine(const Frame& frame) {
  finish();
  check(frame);
  publish();
}

std::vector<verify::Finding> RunRecorder::nested(const Matrix3X& points, const std::vector<int>& absent) {
  finish();
  check_.set_absent(absent);
  return check_.nested(points);
}

void RunRecorder::write(const Record& record) {
  if (record.new_meshes) check_ = verify::FrameCheck(*record.new_meshes);
  if (record.iterates) {
    write_iterates(directory_, *record.iterates);
    digests_.add(iterates_name(record.iterates->step));
  }
  for (const Frame& frame : record.topologies) {
    const std::string file = topology_name(frame.topology);
    fs::create_directories((directory_ / file).parent_path());
    write_frame(directory_ / file, frame);
    digests_.add(file);
  }
  if (record.frame) {
    frames_->write(*record.frame);
    digests_.add(frame_name(frames_->count() - 1));
    check(*record.frame);
  }
  publish();
}

void RunRecorder::check(const Frame& frame) {
  const Matrix3X& points = frame.mesh.points;
  check_.set_absent(frame.absent);
  findings_.checked = true;
  const auto note = [](std::optional<std::string>& first, const std::vector<verify::Finding>& found) {
    if (!found.empty() && !first) first = found.front().text;
  };
  note(findings_.intersection, check_.not_finite(points));
  if (findings_.intersection) return;  // the others need finite coordinates
  note(findings_.intersection, check_.intersections(points, 1));
  note(findings_.intersection, check_.nested(points));
  note(findings_.intersection, check_.below_half_spaces(points));
  note(findings_.inversion, check_.inversions(points));
  note(findings_.strain, check_.strains(points));
  note(findings_.thickness, check_.thin(points, 1));
}

void RunRecorder::publish() {
  const std::lock_guard lock(mutex_);
  written_ = {frames_ ? frames_->count() : 0, digests_.scene(),          digests_.digest(), findings_,
              check_.has_thickness(),         check_.limited_count() > 0};
}

}  // namespace apart
