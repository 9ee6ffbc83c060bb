#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/session/read_inputs.h"

namespace sonde::session {

/// One input of a sweep: a picture, an array, or a case of an archive.
struct SweepInput {
    std::string name;            ///< "cats/1.png", relative to the folder; "cases.npz#case1", or "case1" of one archive
    std::filesystem::path path;  ///< of the file
    std::string caseName;        ///< of an archive; empty: the arrays without a case before their names
};

struct SweepInputs {
    std::vector<SweepInput> inputs;    ///< by name, digits by their number: "2.png" before "10.png"; so are cases
    std::vector<std::string> leftOut;  ///< files that are neither pictures nor arrays, by their names
};

/// The inputs in a folder, with those in folders below it, or the cases of an .npz. Only looks at the beginning of each
/// file; an archive that cannot be read is one input, whose reading fails later. Hidden files are none. Errors (Usage):
/// no such file, no input in it; Cancelled.
base::Result<SweepInputs> sweepInputs(const std::filesystem::path& path, const base::WorkContext& work = {});

/// The values for one input, in the order of Document::inputs. A picture or an array is for the model's first input;
/// others get random numbers, the same for each input of the sweep.
base::Result<std::vector<tensor::Value>> readSweepInput(const document::Document& document, const SweepInput& input,
                                                        const std::string& preset, std::uint64_t seed,
                                                        const base::WorkContext& work = {});

/// All cases of an archive, if `data` names one with several and nothing else; else none. Errors: as above.
base::Result<std::vector<std::vector<tensor::Value>>> readArchiveCases(const document::Document& document,
                                                                       const InputData& data,
                                                                       const base::WorkContext& work = {});

}  // namespace sonde::session
