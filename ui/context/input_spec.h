#pragma once

#include <QString>

#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/graph/ids.h"
#include "core/tensor/type_info.h"

namespace sonde::context {

/// How the bytes of a picture become numbers of an input.
struct ImageOptions {
    bool resize = true;             ///< to the input's height and width
    QString preset = QStringLiteral("imagenet");  ///< id of io::imagePresets(): scale, mean, deviation, channel order

    bool operator==(const ImageOptions&) const = default;
};

/// Where the value of one model input comes from.
struct InputSpec {
    /// A path (.npy, .npz, .npz#key, image), "#rand(min,max,shape…)". Empty: not given.
    QString source;
    ImageOptions image;             ///< used if `source` is a picture
    bool operator==(const InputSpec&) const = default;

    bool isFile() const { return !source.isEmpty() && !source.startsWith(QLatin1Char('#')); }
};

/// What an input gets when nothing is known of the user's wish: small random numbers of a plausible shape.
InputSpec defaultSpec(const tensor::TypeInfo& type);
/// "#rand(0,1,1,3,224,224)"; extents that are not known become 1, or 224 for the height and width of a picture.
QString randomSource(const tensor::TypeInfo& type, double low, double high);

/// One input of the open model with what is given for it.
struct ModelInput {
    QString name;
    graph::NodeId node;
    tensor::TypeInfo type;
    InputSpec spec;
    std::optional<tensor::Value> value;     ///< once it was read; dropped when the spec changes
    std::optional<base::Error> error;       ///< why it could not be read
    bool isDemanded = false;                ///< the file does not tell the type, the layers do
};

}  // namespace sonde::context
