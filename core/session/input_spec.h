#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/mapped_file.h"
#include "core/graph/ids.h"
#include "core/tensor/type_info.h"

namespace sonde::session {

/// How the bytes of an image become numbers of an input.
struct ImageChoice {
    bool resize = true;               ///< to the input's height and width
    std::string preset = "imagenet";  ///< id of io::imagePresets(): scale, mean, deviation, channel order

    bool operator==(const ImageChoice&) const = default;
};

/// Where the value of one model input comes from.
struct InputSpec {
    /// An item of io::makeInputs(): a path (.npy, .npz, .npz#key, image), "#rand(min,max,shape…)", numbers as text
    /// ("16000", "[1,2,3]"). Empty: not given.
    std::string source;
    ImageChoice image;  ///< used if `source` is an image

    bool isFile() const;
    bool isArchive() const;
    bool isNumbers() const;
    bool operator==(const InputSpec&) const = default;
};

/// One input of the open model with what is given for it.
struct Input {
    std::string name;
    graph::NodeId node;
    tensor::TypeInfo type;
    InputSpec spec;
    bool isRequired = false;                   ///< the file does not tell the type, the layers do
    bool isDefault = false;                    ///< nobody chose its spec: it follows the sizes of the other inputs
    std::optional<tensor::Value> value = {};   ///< once it was read; dropped when the spec changes
    std::optional<base::Error> error = {};     ///< why it could not be read
    std::optional<base::Error> conflict = {};  ///< why the value cannot be given together with those of other inputs
    std::string note = {};                     ///< how the value was found, where that is not plain
    base::MappedFiles files = {};              ///< that the value was read from
    /// While a comparison has given the input its own: what it had before. An empty source: nobody had chosen anything.
    std::optional<InputSpec> before = {};

    /// What somebody chose for it, which is what is stored; null: nothing.
    const InputSpec* chosen() const;
    /// Looks at the disk: whether the value is of a file that is no longer what was read.
    bool hasChangedFile() const;
};

/// The control that an input's numbers are written in, by its type.
enum class NumberField {
    Number,  ///< one number: a scalar, or a tensor of one element
    Flag,    ///< one bool
    List     ///< text of numbers, which any tensor may be given by
};
NumberField numberFieldOf(const tensor::TypeInfo& type);
/// Whether that control is what a person wants first: one number or bool, or a row of at most 16 integers.
bool isGivenAsNumbers(const tensor::TypeInfo& type);
/// "0", "0.5", "false", "[0,0]": the numbers that an input begins with.
std::string defaultNumbers(const tensor::TypeInfo& type);
/// "#rand(0,1,1,3,224,224)"; dim sizes that are not known become 1, or 224 for the height and width of an image.
std::string randomSource(const tensor::TypeInfo& type, double low, double high);
/// What an input gets when nothing is known of the user's wish: small random numbers of a plausible shape.
InputSpec defaultSpec(const tensor::TypeInfo& type);

}  // namespace sonde::session
