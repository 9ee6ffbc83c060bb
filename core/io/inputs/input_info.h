#pragma once

#include <optional>
#include <string>

#include "core/tensor/dim_size_hint.h"
#include "core/tensor/type_info.h"

namespace sonde::io {

/// An input of a model, as far as making a value for it needs to know.
struct InputInfo {
    std::string name;
    tensor::TypeInfo type;
    bool isGuide = false;        ///< the type is what the layers want: data of another rank is the model's own affair
    tensor::DimSizeHints usual;  ///< what a first run should give, where something tells
    /// What values must agree with, before a run: the type that the file declares, or what the layers cannot do
    /// without. A value that contradicts it is refused (see agreement.h). None: only the rank of `type` counts
    /// (input-data.md).
    std::optional<tensor::TypeInfo> required = {};
    bool isRequiredByLayers = false;  ///< `required` is not declared by the file: its layers require it
};

/// The shape that is used where nothing says otherwise. A rank comes from the type, or from the hints.
tensor::Shape usualShape(const tensor::TypeInfo& type, const tensor::DimSizeHints& usual = {});

}  // namespace sonde::io
