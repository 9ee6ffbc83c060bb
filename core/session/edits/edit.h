#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/session/watch/node_identity.h"

namespace sonde::session {

/// What a user overwrites in a value: of an operation, an input, a weight. Data only: it can be stored, and made ready
/// for a model (ReadyEdit).
struct Edit {
    enum class Kind : std::uint8_t {
        Expression,  ///< `text`: the result is broadcast to the slice, and converted to its dtype
        File,        ///< `text`: a .npy file, likewise
        Zero,
        Noise,  ///< adds numbers of a normal distribution: mean 0, standard deviation `number`, from `seed`
        Scale,  ///< multiplies by `number`
        Swap,   ///< exchanges two parts of an axis: channels, heads
        Remove  ///< sets parts of an axis to zero
    };
    NodeIdentity target;
    std::string slice;  ///< what is between the brackets: "0, :, 3:5", "x > 0"; empty: everything
    Kind kind = Kind::Zero;
    std::string text;
    double number = 0;
    std::uint64_t seed = 0;
    std::int64_t axis = 0;              ///< of the slice; negative: from the last
    std::vector<std::int64_t> indices;  ///< of Swap two, of Remove one or more
    std::int64_t parts = 0;  ///< that the axis is divided into (heads), which `indices` count; 0: its elements
    bool isEnabled = true;   ///< false: it is kept, and does nothing

    bool operator==(const Edit&) const = default;
};

std::string_view name(Edit::Kind kind);  ///< "expression", "file", "zero", …
std::optional<Edit::Kind> editKind(std::string_view name);

/// "conv1[0] = conv1[0] * 2", "conv1[0] swap 1 0 3 of 12": as `set` and `edit` of `sonde debug` read it.
std::string editText(const Edit& edit);

/// Where in an edit an error is: in its slice, in its expression, or in neither; and the column there, from 1.
struct EditPlace {
    enum class Part : std::uint8_t { Target, Slice, Value };
    Part part = Part::Target;
    std::size_t column = 1;
};

}  // namespace sonde::session
