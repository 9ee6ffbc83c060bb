#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/io/image/image.h"
#include "core/io/inputs/input_info.h"

namespace sonde::io {

/// One line of a pen or an eraser with round ends. Numbers are thousandths of the paper: sizes of its shorter side, x
/// of its width, y of its height. A line of one point is a dot.
struct Stroke {
    bool isEraser = false;
    int size = 60;  ///< thickness, 1 to kMaxSize
    std::vector<std::pair<int, int>> points;

    static constexpr int kMaxSize = 1000;
    static constexpr int kMinPlace = -1000, kMaxPlace = 2000;  ///< beyond the paper, where a line leaves it
    bool operator==(const Stroke&) const = default;
};

/// What is drawn by hand for an input, as strokes in the order in which they were made. As an item of a specification:
///   #draw(white|60,100,200,300,400|e120,500,500)
/// the colour of the pen (white on black, or black on white), then strokes: size, x, y, x, y…; 'e' is an eraser.
struct Drawing {
    bool isWhiteOnBlack = true;
    std::vector<Stroke> strokes;

    static constexpr std::size_t kMaxStrokes = 10'000, kMaxPoints = 50'000;
    bool operator==(const Drawing&) const = default;
};

bool isDrawingItem(std::string_view item);
/// Errors (Usage): what is wrong, and in which stroke; more strokes or points than there may be.
base::Result<Drawing> parseDrawing(std::string_view item);
std::string drawingItem(const Drawing& drawing);

/// The drawing as pixels, with smooth edges. 1 <= width, height.
Image drawnImage(const Drawing& drawing, int width, int height);
/// In the size that the input takes; at most 1,024 pixels on the longer side. Errors (Usage): no picture fits it.
base::Result<Image> drawnImage(const Drawing& drawing, const InputInfo& input);
/// The same as a value of the input: what imageTensor() makes of that image.
base::Result<tensor::Tensor> drawnTensor(std::string_view item, const InputInfo& input, ImageOptions options);

}  // namespace sonde::io
