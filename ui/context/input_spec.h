#pragma once

#include <QString>

#include <optional>

#include "core/session/input_spec.h"

namespace sonde::context {

using session::isGivenAsNumbers;
using session::NumberField;
using session::numberFieldOf;

/// How the bytes of a picture become numbers of an input.
struct ImageOptions {
    bool resize = true;                           ///< to the input's height and width
    QString preset = QStringLiteral("imagenet");  ///< id of io::imagePresets(): scale, mean, deviation, channel order

    bool operator==(const ImageOptions&) const = default;
};

/// Where the value of one model input comes from: a session::InputSpec for views.
struct InputSpec {
    QString source;
    ImageOptions image;  ///< used if `source` is a picture
    bool operator==(const InputSpec&) const = default;

    static InputSpec from(const session::InputSpec& spec);
    session::InputSpec plain() const { return {source.toStdString(), {image.resize, image.preset.toStdString()}}; }

    bool isFile() const { return plain().isFile(); }
    bool isNumbers() const { return plain().isNumbers(); }
};

/// "0", "0.5", "false", "[0,0]": the numbers that an input begins with.
QString defaultNumbers(const tensor::TypeInfo& type);
/// Text of a list as the grammar has it, with the brackets that a person may leave out: "1, 2" is [1, 2], or [[1, 2]]
/// for an input of rank 2.
QString withBrackets(const QString& numbers, const tensor::TypeInfo& type);
/// "#rand(0,1,1,3,224,224)"; dim sizes that are not known become 1, or 224 for the height and width of a picture.
QString randomSource(const tensor::TypeInfo& type, double low, double high);

/// One input of the open model with what is given for it: a session::Input for views.
struct ModelInput {
    QString name;
    graph::NodeId node;
    tensor::TypeInfo type;
    InputSpec spec;
    std::optional<tensor::Value> value;   ///< once it was read; dropped when the spec changes
    std::optional<base::Error> error;     ///< why it could not be read
    bool isRequired = false;              ///< the file does not tell the type, the layers do
    std::optional<base::Error> conflict;  ///< why its value cannot be given together with those of the other inputs
    bool isDefault = false;               ///< nobody chose its spec: it follows the sizes of the other inputs
    QString note;                         ///< how the value was found, where that is not plain
    base::MappedFiles files;              ///< that the value was read from

    static ModelInput from(const session::Input& input);
};

}  // namespace sonde::context
