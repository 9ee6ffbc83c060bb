#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// What is read at places outside of an image.
enum class Border { Zeros, Edge, Reflect };

/// One axis of an image and how places outside of it are read.
struct SampledAxis {
    std::int64_t dimSize;
    Border border;
    bool alignCorners;

    /// From [-1, 1] to a position in elements.
    double position(double normalized) const;
    /// How much that changes with the place.
    double positionSlope() const { return static_cast<double>(alignCorners ? dimSize - 1 : dimSize) / 2; }
    /// The position that is read for it, so that its neighbours exist as far as the border allows.
    double folded(double x) const;
    /// How much that changes with x: 0 where it is held at an end, and at the ends; −1 where it goes back.
    double foldedSlope(double x) const;
    /// The element that a whole position stands for; -1: zero.
    std::int64_t element(std::int64_t i) const;

  private:
    double reflected(double x) const;
};

/// An element that has a part in a value, and how much that part changes with the position.
struct SampledElement {
    std::int64_t offset;
    double weight;
    double slope = 0;
};

/// The elements of one axis for a position. `mode`: linear, nearest, cubic. Some weights may be 0.
std::vector<SampledElement> elementsAt(const SampledAxis& axis, double position, const std::string& mode);
/// All elements that make up the value at a position of several axes, with their weights.
std::vector<SampledElement> tapsAt(std::span<const SampledAxis> axes, std::span<const double> positions,
                                   const std::string& mode);

/// A call of GridSample: x [N,C,D…], grid [N,D'…,r]. Errors: unknown modes, shapes that do not go together.
struct GridSampling {
    std::string mode;  ///< linear, nearest, cubic
    std::vector<SampledAxis> axes;
    std::int64_t pixels = 1, points = 1;  ///< of a plane of x and of the result
    Shape result;

    static base::Result<GridSampling> of(const Tensor& x, const Tensor& grid, const Attributes& attributes);
    /// The attributes of GridSample for what PyTorch counts: bilinear, nearest, bicubic; zeros, border, reflection.
    static base::Result<Attributes> attributesOf(std::int64_t mode, std::int64_t border, bool alignCorners);
    /// Positions for r numbers of the grid, which name the innermost axis first.
    void place(const double* grid, std::span<double> positions) const {
        for (std::size_t d = 0; d < axes.size(); ++d) positions[d] = axes[d].position(grid[axes.size() - 1 - d]);
    }
};

}  // namespace sonde::ops
