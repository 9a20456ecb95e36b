#pragma once
#include <apart/io/frame.hpp>

namespace apart {

/// Writes a frame in pieces, for programs whose processes each read some of them: beside `file`, whose
/// extension does not matter, NAME.pvtu and a folder NAME with 0.vtu, 1.vtu, ... Cells are divided by the
/// place of their first points (divide_space); each piece has the points of its cells, with all that a frame
/// says of them, and without the bodies that are absent. A piece is for drawing: what verification needs
/// beyond cells stands in the frame itself.
void write_partitioned_frame(const std::filesystem::path& file, const Frame& frame, int pieces);

}  // namespace apart
