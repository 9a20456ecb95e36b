#include "rigid_peer.hpp"

#ifdef APART_HAS_BULLET

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletDynamicsCommon.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>
#include <numeric>

namespace apart::bench {

namespace {

btVector3 to_bullet(const Vector3& v) {
  return {v[0], v[1], v[2]};
}

/// Numbers of the faces of each connected piece.
std::vector<std::vector<Index>> pieces_of(const PeerBody& body) {
  std::vector<Index> of(std::size_t(body.points.cols()));
  std::iota(of.begin(), of.end(), 0);
  const auto root = [&](Index v) {
    while (of[std::size_t(v)] != v) v = of[std::size_t(v)] = of[std::size_t(of[std::size_t(v)])];
    return v;
  };
  for (Index f = 0; f < Index(body.faces.cols()); ++f)
    for (int k = 1; k < 3; ++k) of[std::size_t(root(body.faces(k, f)))] = root(body.faces(0, f));
  std::vector<std::vector<Index>> pieces;
  std::vector<Index> number(of.size(), -1);
  for (Index f = 0; f < Index(body.faces.cols()); ++f) {
    Index& piece = number[std::size_t(root(body.faces(0, f)))];
    if (piece < 0) {
      piece = Index(pieces.size());
      pieces.emplace_back();
    }
    pieces[std::size_t(piece)].push_back(f);
  }
  return pieces;
}

/// Whether no corner of a closed piece lies before one of its faces.
bool is_convex(const PeerBody& body, const std::vector<Index>& piece) {
  double size = 0;
  for (const Index f : piece)
    for (const Index v : body.faces.col(f))
      size = std::max(size, (body.points.col(v) - body.points.col(body.faces(0, piece[0]))).norm());
  for (const Index f : piece) {
    const Vector3 a = body.points.col(body.faces(0, f)), b = body.points.col(body.faces(1, f)),
                  c = body.points.col(body.faces(2, f));
    const Vector3 normal = (b - a).cross(c - a).normalized();
    for (const Index g : piece)
      for (const Index v : body.faces.col(g))
        if (normal.dot(Vector3(body.points.col(v)) - a) > 1e-6 * size) return false;
  }
  return true;
}

class Bullet final : public RigidPeer {
 public:
  explicit Bullet(const PeerScene& scene) : scene_(scene) {
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher_);
    world_.setGravity(to_bullet(scene.gravity));
    btContactSolverInfo& info = world_.getSolverInfo();
    info.m_numIterations = 2500;  // as the thesis has it, §4.6
    info.m_leastSquaresResidualThreshold = 1e-12;
    for (const PeerBody& body : scene.bodies) add(body);
  }
  ~Bullet() override {
    for (const auto& body : bodies_) world_.removeRigidBody(body.get());
  }

  void step(double dt) override { world_.stepSimulation(dt, 0); }

  Matrix3X points(std::size_t b) const override {
    const btTransform& now = bodies_[b]->getWorldTransform();
    Matrix3X result(3, local_[b].cols());
    for (Index v = 0; v < Index(result.cols()); ++v) {
      const btVector3 at = now * to_bullet(local_[b].col(v));
      result.col(v) = Vector3(at[0], at[1], at[2]);
    }
    return result;
  }

 private:
  void add(const PeerBody& body) {
    // Bullet wants the axes of a body to be its principal ones.
    Matrix3 axes = Matrix3::Identity();
    Vector3 moments = Vector3::Zero();
    if (body.mass > 0) {
      const Eigen::SelfAdjointEigenSolver<Matrix3> solver(body.inertia);
      axes = solver.eigenvectors();
      if (axes.determinant() < 0) axes.col(0) *= -1;
      moments = solver.eigenvalues();
    }
    local_.push_back(axes.transpose() * (body.points.colwise() - body.centre));
    btCollisionShape* shape = shape_of(body, local_.back());
    btTransform at;
    at.setBasis({axes(0, 0), axes(0, 1), axes(0, 2), axes(1, 0), axes(1, 1), axes(1, 2), axes(2, 0),
                 axes(2, 1), axes(2, 2)});
    at.setOrigin(to_bullet(body.centre));
    btRigidBody::btRigidBodyConstructionInfo info(body.mass, nullptr, shape, to_bullet(moments));
    info.m_startWorldTransform = at;
    info.m_friction = std::sqrt(scene_.friction);  // those of two bodies are multiplied
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setLinearVelocity(to_bullet(body.velocity));
    bodies_.back()->setAngularVelocity(to_bullet(body.spin));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
  }

  template <class Shape, class... Arguments>
  Shape* keep(Arguments&&... arguments) {
    auto shape = std::make_unique<Shape>(std::forward<Arguments>(arguments)...);
    Shape* result = shape.get();
    shapes_.push_back(std::move(shape));
    return result;
  }

  btCollisionShape* shape_of(const PeerBody& body, const Matrix3X& local) {
    const std::vector<std::vector<Index>> pieces = pieces_of(body);
    bool convex = !pieces.empty();
    for (const auto& piece : pieces) convex = convex && is_convex(body, piece);
    if (convex) {
      auto* compound = keep<btCompoundShape>();
      for (const auto& piece : pieces) {
        auto* hull = keep<btConvexHullShape>();
        for (const Index f : piece)
          for (const Index v : body.faces.col(f)) hull->addPoint(to_bullet(local.col(v)), false);
        hull->optimizeConvexHull();
        hull->recalcLocalAabb();
        hull->setMargin(scene_.margin);
        compound->addChildShape(btTransform::getIdentity(), hull);
      }
      return compound;
    }
    meshes_.push_back(std::make_unique<btTriangleMesh>());
    for (Index f = 0; f < Index(body.faces.cols()); ++f)
      meshes_.back()->addTriangle(to_bullet(local.col(body.faces(0, f))),
                                  to_bullet(local.col(body.faces(1, f))),
                                  to_bullet(local.col(body.faces(2, f))));
    if (body.mass > 0) {
      auto* mesh = keep<btGImpactMeshShape>(meshes_.back().get());
      mesh->setMargin(scene_.margin);
      mesh->updateBound();
      return mesh;
    }
    auto* mesh = keep<btBvhTriangleMeshShape>(meshes_.back().get(), true);
    mesh->setMargin(scene_.margin);
    return mesh;
  }

  PeerScene scene_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broad_phase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broad_phase_, &solver_, &configuration_};
  std::vector<std::unique_ptr<btTriangleMesh>> meshes_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<Matrix3X> local_;  ///< points in the frame of each body [m]
};

}  // namespace

std::unique_ptr<RigidPeer> make_bullet(const PeerScene& scene) {
  return std::make_unique<Bullet>(scene);
}

}  // namespace apart::bench

#else

namespace apart::bench {

std::unique_ptr<RigidPeer> make_bullet(const PeerScene&) {
  return nullptr;
}

}  // namespace apart::bench

#endif
