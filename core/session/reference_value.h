#pragma once

#include <string>
#include <utility>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/graph/ids.h"
#include "core/tensor/value.h"

namespace sonde::session {

class Comparison;

/// FILE.npz#case1 as both; of a file without one the second is empty. A file may have '#' in its name.
std::pair<std::string, std::string> fileAndCase(const std::string& path);

/// The file, or other model, that what is known was compared with, as Comparison::references() has it; of a file with
/// several cases that do not all agree with the one that is shown: "resnet18.npz#case1". Empty if nothing is known, or
/// it was compared with no file that stays.
std::string comparedFile(const Comparison& comparison);

/// Which of several values of a node in loops is meant.
struct ReferenceIteration {
    std::string pass = {};  ///< "2", of nested loops "1.0"; empty: the last one, or the only value
    bool isLast = true;     ///< the file has it under the node's name, too
};

/// The value that a reference file (.npz) has for a node: under node.NAME, of an output also under out.NAME, of an
/// input under in.NAME, of an iteration under node.NAME.passN. `path`: FILE.npz#case1 for one case of several, else
/// the first. Blocks. Errors: those of document::openReference(); (Usage) the file has none, or a
/// summary only.
base::Result<tensor::Value> referenceValue(const document::Document& document, const std::string& path,
                                           graph::NodeId node, const base::WorkContext& work = {},
                                           const ReferenceIteration& iteration = {});

}  // namespace sonde::session
