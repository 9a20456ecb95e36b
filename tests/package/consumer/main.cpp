// A program of another project. It is compiled for the compiler's default instruction set, not for Apart's:
// Eigen matrices are allocated on one side and freed on the other.
#include <apart/core/diagnostics.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>

#include <cstdio>

double volume(const apart::Mesh& mesh) {
  double sum = 0;
  for (apart::Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    const auto corner = [&](int k) -> apart::Vector3 { return mesh.points.col(mesh.tetrahedra(k, t)); };
    sum += apart::signed_volume6(corner(0), corner(1), corner(2), corner(3)) / 6;
  }
  return sum;
}

int main(int, char** arguments) {
  std::printf("Apart %s\n", apart::version().c_str());
  const apart::Mesh box = apart::generate::box({2, 3, 4}, {2, 3, 4});
  std::printf("box volume %.3f tetrahedra %d\n", volume(box), int(box.tetrahedra.cols()));
  apart::write_mesh(arguments[1], box);
  std::printf("read back %.3f\n", volume(apart::read_mesh(arguments[1])));
}
