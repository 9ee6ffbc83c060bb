#pragma once

#include <QString>

#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document.h"
#include "ui/context/input_spec.h"

namespace sonde::context {

/// An archive that is given to one input or to the model.
struct ArchiveChoice {
    QString source;
    std::optional<std::size_t> target;  ///< none: the model
    std::vector<bool> isFree;           ///< by input: may be filled
};

/// What was read for one input.
struct ReadInput {
    InputSpec asked;  ///< the spec that the input had; it may have changed since
    InputSpec spec;   ///< the spec that the value is of: the archive's, if that filled the input
    base::Result<tensor::Value> value = tensor::Value();  ///< none: nothing was to be read
    bool isDefault = false;
    QString note;
    base::MappedFiles files = {};              ///< that the value was read from
    std::optional<base::Error> conflict = {};  ///< with the inputs before it
};

struct ReadInputsResult {
    std::vector<ReadInput> inputs;       ///< one for each
    std::vector<std::string> notes;      ///< about the archive
    std::optional<base::Error> refused;  ///< an input got no array
    std::size_t filled = 0;              ///< how many inputs got an array
};

/// Reads or makes the values of the inputs that have none, as specified and of the input's dtype; an archive first
/// fills the inputs that it has arrays for. Each input has its own sequence of random numbers, as on the command line.
/// On a worker thread. Errors by input: unreadable file, wrong grammar, a type that contradicts what the model
/// declares; with the input's name.
ReadInputsResult readInputs(const document::Document& document, std::vector<ModelInput> inputs,
                            const std::optional<ArchiveChoice>& archive);

/// Whether both are the same to the last bit; quick if they share their elements.
bool same(const tensor::Value& a, const tensor::Value& b);
bool same(const std::vector<tensor::Value>& a, const std::vector<tensor::Value>& b);

}  // namespace sonde::context
