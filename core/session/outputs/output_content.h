#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor/picture/picture.h"
#include "core/tensor/tensor.h"

namespace sonde::session::outputs {

// What an output is shown as: one struct for each form of the table in forms.h. All of it is small, or a picture of at
// most kMaxPixels: a window keeps and draws it without looking at the value again.

inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 22;

/// One class of a classifier.
struct ClassScore {
    std::int64_t index = 0;
    std::string name;  ///< of a labels file; empty: none
    double value = 0;  ///< the element
    double share = 0;  ///< of all classes, 0 … 1; only if Classes::hasShares
};
/// The classes with the largest values, the largest first. NaN is never among them.
struct Classes {
    std::vector<ClassScore> top;
    std::int64_t count = 0;  ///< of classes
    bool hasShares = false;
    std::string scale;  ///< what the values are: "probabilities", "shares: softmax of the values"
};

/// Text of token ids, or of the most likely token at each position.
struct TokenText {
    struct Token {
        std::int64_t id = 0;
        std::string text;  ///< empty without a vocabulary
        double share = 0;  ///< of logits
    };
    std::string text;  ///< empty without a vocabulary
    std::vector<Token> tokens;
    std::int64_t count = 0;     ///< of all tokens, of which `tokens` are the first
    bool isFromLogits = false;  ///< else the output has ids
    std::vector<Token> next;    ///< of logits: the most likely at the last position, the most likely first
};

/// An image as it would be seen. Values from `low` to `high` are black to white.
struct ImagePixels {
    tensor::Picture picture;  ///< every `step`th pixel of each row and column
    std::int64_t width = 0, height = 0, channels = 0, step = 1;
    double low = 0, high = 1;
};

/// Rectangles in pixels of the input picture, the highest score first.
struct Boxes {
    struct Box {
        double left = 0, top = 0, right = 0, bottom = 0;
        double score = std::numeric_limits<double>::quiet_NaN();  ///< NaN: there is none
        std::int64_t index = -1;                                  ///< of the class; -1: there is none
        std::string name;                                         ///< of the class
    };
    tensor::Picture under;         ///< what the input shows; empty: no input is a picture
    double width = 0, height = 0;  ///< of the input, in pixels; without one, what the boxes reach
    std::vector<Box> boxes;        ///< those that are shown
    std::int64_t count = 0;        ///< of all boxes
    std::int64_t passing = 0;      ///< of those whose score reaches the threshold
    std::string layout;            ///< how they were read: "xyxy, pixels, score 4, class 5"
};

/// The class of each pixel, over the input picture.
struct Masks {
    static constexpr std::uint16_t kNone = 0xffff;  ///< no class
    struct Part {
        std::int64_t index = 0;
        std::string name;
        double share = 0;  ///< of all pixels
    };
    tensor::Picture under;
    std::int64_t width = 0, height = 0, step = 1;  ///< of the output; `classes` has every `step`th row and column
    std::vector<std::uint16_t> classes;
    int columns = 0, rows = 0;  ///< of `classes`
    std::vector<Part> parts;    ///< classes that are there, the largest part first
    std::int64_t classCount = 0;
    std::string rule;  ///< what decides: "largest of 21 channels", "value above 0.5"
};

/// A signal: float32 [channels, samples].
struct Waveform {
    tensor::Tensor samples;
    double low = 0, high = 0;
    std::int64_t rate = 0;  ///< samples a second; 0: not known
};

struct Scalar {
    std::string text;
    std::string note;  ///< "61.2 % as a probability"
};

/// Elements as text, at most kMaxRows and kMaxColumns of them.
struct Table {
    static constexpr std::int64_t kMaxRows = 200, kMaxColumns = 64;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::int64_t rowCount = 0, columnCount = 0;  ///< of the value
};

using Content = std::variant<std::monostate, Classes, TokenText, ImagePixels, Boxes, Masks, Waveform, Scalar, Table>;

}  // namespace sonde::session::outputs
