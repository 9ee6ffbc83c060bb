#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document.h"
#include "core/io/inputs/inputs.h"
#include "core/session/input_spec.h"

namespace sonde::session {

/// An archive that is given to one input or to the model.
struct ArchiveChoice {
    std::string source;
    std::optional<std::size_t> target = {};  ///< the input that it was chosen for; none: the model
    std::vector<bool> isFree = {};           ///< by input: nothing else was chosen since, it may be filled
};

/// What was read for one input.
struct ReadInput {
    InputSpec asked;  ///< the spec that the input had; it may have changed since
    InputSpec spec;   ///< the spec that the value is of: the archive's, if that filled the input
    base::Result<tensor::Value> value = tensor::Value();  ///< none: nothing was to be read
    bool isDefault = false;
    std::string note = {};
    base::MappedFiles files = {};              ///< that the value was read from
    std::optional<base::Error> conflict = {};  ///< with the inputs before it
};

struct ReadInputsResult {
    std::vector<ReadInput> inputs;            ///< one for each
    std::vector<std::string> notes = {};      ///< about the archive
    std::optional<base::Error> refused = {};  ///< an input got no array
    std::optional<base::Error> lacking = {};  ///< of one input's archive: others, that nobody chose either, got none
    std::size_t filled = 0;                   ///< how many inputs got an array
};

/// Reads or makes the values of the inputs that have none, as specified and of the input's dtype; an archive first
/// fills the inputs that it has arrays for. Each input has its own sequence of random numbers, as on the command line.
/// Blocks, on any thread; when stopped, further inputs are left unread. Errors by input: unreadable file, wrong
/// grammar, a type that contradicts what the model declares; with the input's name.
ReadInputsResult readInputs(const document::Document& document, std::vector<Input> inputs,
                            const std::optional<ArchiveChoice>& archive, const base::WorkContext& work = {});

/// The inputs of a command line: all of them in one text, for one run or several.
struct InputData {
    std::string spec = {};       ///< input-data.md, "Grammar"; empty: random numbers
    std::string preset = "bgr";  ///< of images: id of io::imagePresets()
    std::uint64_t seed = 0;      ///< of random numbers
};

/// The values that a text gives for a document's inputs, in the order of Document::inputs: a case for each run. Blocks,
/// on any thread. Errors: those of io::makeInputs().
base::Result<std::vector<io::InputCase>> readCases(const document::Document& document, const InputData& data,
                                                   const base::WorkContext& work = {});
/// The same for inputs of other sizes than document::requiredInputInfos() has.
base::Result<std::vector<io::InputCase>> readSizedCases(const document::Document& document, const InputData& data,
                                                        const std::vector<io::InputInfo>& infos,
                                                        const base::WorkContext& work = {});

/// Whether both are the same to the last bit; quick if they share their elements.
bool same(const tensor::Value& a, const tensor::Value& b);
bool same(const std::vector<tensor::Value>& a, const std::vector<tensor::Value>& b);

}  // namespace sonde::session
