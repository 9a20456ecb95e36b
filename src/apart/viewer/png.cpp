#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/viewer/png.hpp>

#include <png.h>

#include <string>

namespace apart {

void write_png(const std::filesystem::path& file, const Image& image) {
  ensure(image.width > 0 && image.height > 0 &&
             image.rgb.size() == std::size_t(3) * std::size_t(image.width) * std::size_t(image.height),
         "write_png: three bytes per pixel");
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = png_uint_32(image.width);
  png.height = png_uint_32(image.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr))
    throw InputError("{}: the picture of {} × {} pixels cannot be encoded: {}", file.string(), image.width,
                     image.height, png.message);
  bytes.resize(size);
  write_atomically(file, bytes);
}

Image read_png(const std::filesystem::path& file) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&png, file.c_str()))
    throw InputError("{}: cannot be read as a PNG picture: {}", file.string(), png.message);
  png.format = PNG_FORMAT_RGB;
  Image image{int(png.width), int(png.height), {}};
  image.rgb.resize(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, image.rgb.data(), 0, nullptr))
    throw InputError("{}: cannot be read as a PNG picture: {}", file.string(), png.message);
  return image;
}

}  // namespace apart
